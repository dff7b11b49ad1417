//! Tokens by the second in which they came.

use crate::window::Window;
use bench_core::clock::Nanos;
use bench_core::record::{Events, RequestRecord};

/// Output tokens in buckets of one second from the window's start. What is left at the window's end belongs
/// to the last whole second, so that no sliver of a second makes a peak; a window under a second is one
/// bucket. So the buckets cover the window exactly, and the greatest rate is never below the mean.
#[derive(Clone, Debug)]
pub struct Buckets {
    start_ns: u64,
    length_ns: u64,
    tokens: Vec<f64>,
}

const SECOND: u64 = 1_000_000_000;

impl Buckets {
    /// Empty ones.
    pub fn new(window: Window) -> Buckets {
        let length_ns = window.end.saturating_sub(window.start).0;
        Buckets { start_ns: window.start.0, length_ns, tokens: Vec::new() }
    }

    /// Number of buckets; a bad clock must not ask for memory without end, and 2^24 seconds are half a year.
    fn count(&self) -> u64 {
        (self.length_ns / SECOND).clamp(1, 1 << 24)
    }

    fn add(&mut self, at_ns: u64, tokens: f64) {
        let place = (at_ns.saturating_sub(self.start_ns) / SECOND).min(self.count() - 1) as usize;
        if place >= self.tokens.len() {
            self.tokens.resize(place + 1, 0.0);
        }
        self.tokens[place] += tokens;
    }

    /// Spreads an answer's output tokens over its content events by the events' own counts, or evenly where
    /// they carry none; an answer without events counts at its end.
    pub fn add_answer(&mut self, row: &RequestRecord) {
        let Some(output) = row.output_tokens.map(f64::from) else { return };
        let (Some(events), Some(sent)) = (&row.events, row.sent) else {
            self.add(row.end.0, output);
            return;
        };
        match &events.tokens {
            Some(tokens) => self.spread(row, sent, events, tokens.iter().map(|n| f64::from(*n)), output),
            None => self.spread(row, sent, events, std::iter::repeat(1.0), output),
        }
    }

    /// Spreads an answer's output tokens by a weight for each event; only those with content count.
    fn spread(
        &mut self,
        row: &RequestRecord,
        sent: Nanos,
        events: &Events,
        weights: impl Iterator<Item = f64> + Clone,
        output: f64,
    ) {
        let content = events.kind.iter().map(|kind| kind.is_content());
        let weights = weights.zip(content).map(|(w, content)| if content { w } else { 0.0 });
        let total: f64 = weights.clone().take(events.gap_us.len()).sum();
        if total == 0.0 {
            self.add(row.last_token.unwrap_or(row.end).0, output);
            return;
        }
        for (us, w) in events.times_us().zip(weights).filter(|(_, w)| *w > 0.0) {
            let share = if total == output { w } else { output * w / total };
            self.add(sent.0.saturating_add_signed(us.saturating_mul(1000)), share);
        }
    }

    /// Greatest rate of a bucket, tokens a second; `None` for a window without length.
    pub fn peak(&self) -> Option<f64> {
        if self.length_ns == 0 {
            return None;
        }
        let last = self.count() - 1;
        let last_seconds = (self.length_ns - last * SECOND) as f64 / SECOND as f64;
        let rates = self.tokens.iter().enumerate().map(|(i, n)| if i as u64 == last { n / last_seconds } else { *n });
        Some(rates.fold(0.0, f64::max))
    }
}
