//! Tokens by the second in which they came.

use crate::window::Window;
use bench_core::record::RequestRecord;

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
        let weight = |i: usize| match &events.tokens {
            _ if !events.kind.get(i).is_some_and(|k| k.is_content()) => 0.0,
            Some(tokens) => tokens.get(i).copied().map_or(0.0, f64::from),
            None => 1.0,
        };
        let total: f64 = (0..events.gap_us.len()).map(weight).sum();
        if total == 0.0 {
            self.add(row.last_token.unwrap_or(row.end).0, output);
            return;
        }
        for (i, us) in events.times_us().enumerate() {
            let w = weight(i);
            if w > 0.0 {
                let share = if total == output { w } else { output * w / total };
                self.add(sent.0.saturating_add_signed(us.saturating_mul(1000)), share);
            }
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
