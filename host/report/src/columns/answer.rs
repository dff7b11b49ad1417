//! The times of one answer.

use bench_core::clock::Nanos;
use bench_core::record::{Events, RequestRecord};

/// What one complete row says of its answer. Times in ns; differences are signed, so that a clock that went
/// wrong shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// First token - sent.
    pub ttft: Option<i64>,
    /// First text or tool call - sent.
    pub ttfo: Option<i64>,
    /// Last token - sent; end - sent where the answer was not streamed.
    pub e2e: Option<i64>,
    /// The same from scheduled.
    pub response: Option<i64>,
    /// (E2E - TTFT) / (output tokens - tokens of the first event).
    pub tpot: Option<f64>,
    /// Divisor of TPOT.
    pub later_tokens: Option<i64>,
    /// Events with content.
    pub content_events: u64,
    /// Of them, those that shared a read with another event.
    pub merged_events: u64,
    /// Greatest gap between content events, µs.
    pub greatest_gap_us: Option<i64>,
    /// First and last content event, µs since sent, from the gaps.
    pub span_us: Option<(i64, i64)>,
    /// The events say how many tokens they carry.
    pub weighted: bool,
}

/// `later - earlier` in ns.
pub(crate) fn since(later: Nanos, earlier: Nanos) -> i64 {
    i64::try_from(i128::from(later.0) - i128::from(earlier.0)).unwrap_or(i64::MAX)
}

/// Time per output token: `None` for an answer of one event, or none, and where no token came later.
fn tpot(e2e_ns: i64, ttft_ns: i64, later_tokens: i64, content_events: u64) -> Option<f64> {
    (content_events > 1 && later_tokens > 0).then(|| (e2e_ns - ttft_ns) as f64 / later_tokens as f64)
}

impl Answer {
    /// Reads a row; `gap` gets every gap between content events in µs.
    pub fn read(row: &RequestRecord, gap: impl FnMut(i64)) -> Answer {
        let mut answer = Answer::default();
        let Some(sent) = row.sent else { return answer };
        let first_tokens = row.events.as_ref().map_or(1, |events| answer.read_events(events, gap));
        answer.ttft = row.first_token.map(|t| since(t, sent));
        answer.ttfo = row.first_content.map(|t| since(t, sent));
        let last = match row.last_token {
            Some(last) => Some(last),
            None => (row.streamed != Some(true)).then_some(row.end),
        };
        answer.e2e = last.map(|t| since(t, sent));
        answer.response = last.map(|t| since(t, row.scheduled));
        if let (Some(e2e), Some(ttft), Some(tokens)) = (answer.e2e, answer.ttft, row.output_tokens) {
            let later = i64::from(tokens) - first_tokens;
            answer.tpot = tpot(e2e, ttft, later, answer.content_events);
            answer.later_tokens = answer.tpot.map(|_| later);
        }
        answer
    }

    /// Reads the events of a row, and returns the tokens of the first one with content.
    fn read_events(&mut self, events: &Events, mut gap: impl FnMut(i64)) -> i64 {
        self.weighted = events.tokens.is_some();
        let mut before = None;
        let mut first_tokens = 1;
        for ((i, t), kind) in events.times_us().enumerate().zip(&events.kind) {
            if !kind.is_content() {
                continue;
            }
            self.content_events += 1;
            self.merged_events += u64::from(events.merged.get(i).copied().unwrap_or(false));
            match before {
                None => {
                    self.span_us = Some((t, t));
                    if let Some(n) = events.tokens.as_ref().and_then(|tokens| tokens.get(i)) {
                        first_tokens = i64::from(*n);
                    }
                }
                Some(earlier) => {
                    let step = t - earlier;
                    gap(step);
                    self.greatest_gap_us = self.greatest_gap_us.max(Some(step));
                }
            }
            before = Some(t);
        }
        self.span_us = self.span_us.zip(before).map(|((first, _), last)| (first, last));
        first_tokens
    }
}
