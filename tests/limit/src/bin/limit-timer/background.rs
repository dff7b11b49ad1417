//! What the thread does beside sending.

use bench_limit::monotonic;

const EVERY: u64 = 20_000_000;
const TAKES: u64 = 5_000;

/// Streams, each of which takes 5 µs every 20 ms. Times are ns of the monotonic clock.
#[derive(Debug)]
pub(crate) struct Background {
    /// When each stream is next served.
    due: Vec<u64>,
    /// The one whose turn is next: they go round in one order.
    at: usize,
}

impl Background {
    /// So many streams, their times spread evenly.
    pub(crate) fn new(streams: u64) -> Background {
        let start = monotonic();
        Background { due: (0..streams).map(|i| start + i * EVERY / streams).collect(), at: 0 }
    }

    /// When the next stream is to be served.
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.due.get(self.at).copied()
    }

    /// Serves the next stream, if its time has come.
    pub(crate) fn serve(&mut self) -> bool {
        let start = monotonic();
        if self.next_due().is_none_or(|due| due > start) {
            return false;
        }
        while monotonic() < start + TAKES {
            std::hint::spin_loop();
        }
        self.due[self.at] += EVERY;
        self.at = (self.at + 1) % self.due.len();
        true
    }
}
