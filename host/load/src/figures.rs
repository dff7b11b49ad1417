//! What a load thread measures of itself.

use crate::spread::Spread;
use bench_core::clock::Nanos;

/// A load thread's figures.
#[derive(Clone, Debug)]
pub(crate) struct ThreadFigures {
    /// Reads that brought bytes.
    pub(crate) reads: u64,
    /// Of them without a kernel stamp.
    pub(crate) unstamped: u64,
    /// From the kernel's stamp to our read.
    pub(crate) lag: Spread,
    /// From scheduled to sent.
    pub(crate) lateness: Spread,
    /// System calls; counted where the thread asks the kernel itself.
    pub(crate) calls: u64,
    /// Steps of the real-time clock.
    pub(crate) clock_steps: u32,
    /// It ended by a panic, or its transport failed.
    pub(crate) failed: bool,
}

impl ThreadFigures {
    pub(crate) fn new() -> ThreadFigures {
        ThreadFigures {
            reads: 0,
            unstamped: 0,
            lag: Spread::new(),
            lateness: Spread::new(),
            calls: 0,
            clock_steps: 0,
            failed: false,
        }
    }

    /// Adds those of another thread.
    pub(crate) fn merge(&mut self, other: &ThreadFigures) {
        self.reads += other.reads;
        self.unstamped += other.unstamped;
        self.lag.merge(&other.lag);
        self.lateness.merge(&other.lateness);
        self.calls += other.calls;
        // All threads see the same clock.
        self.clock_steps = self.clock_steps.max(other.clock_steps);
        self.failed |= other.failed;
    }

    /// A read brought bytes, with a kernel stamp or without.
    pub(crate) fn read(&mut self, stamp: Option<Nanos>, read: Nanos) {
        self.reads += 1;
        match stamp {
            Some(stamp) => self.lag.add(read.saturating_sub(stamp)),
            None => self.unstamped += 1,
        }
    }
}
