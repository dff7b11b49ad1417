//! From the kernel's receive stamps (real-time clock) to the run's clock.

use crate::sys;
use bench_core::clock::{Clock, MonotonicClock, Nanos};
use std::cell::{Cell, RefCell};

/// The offset is sampled anew at least this often while bytes come.
const SAMPLE_EVERY: Nanos = Nanos::from_millis(1);
/// A sample is good where its two readings of the run's clock are at most this far apart.
const WIDTH: Nanos = Nanos(5_000);
/// Samples may differ by this much, and by this share of the time between them, before the clock is said
/// to have stepped. Time daemons slew by at most 500 parts in a million.
const TOLERANCE_NS: u64 = 20_000;
const SLEW: u64 = 1_000;

/// A load thread's clocks.
#[derive(Debug)]
pub(crate) struct WorkerClock {
    run: MonotonicClock,
    offset: RefCell<Offset>,
    steps: Cell<u32>,
}

impl WorkerClock {
    pub(crate) fn new(run: MonotonicClock) -> WorkerClock {
        let clock = WorkerClock { run, offset: RefCell::new(Offset::default()), steps: Cell::new(0) };
        clock.sample();
        clock
    }

    pub(crate) fn now(&self) -> Nanos {
        self.run.now()
    }

    /// Steps of the real-time clock noticed so far.
    pub(crate) fn steps(&self) -> u32 {
        self.steps.get()
    }

    /// A kernel stamp on the run's clock. `None` where the real-time clock just stepped, so that the
    /// stamp can't be placed.
    pub(crate) fn place(&self, stamp: u64, read: Nanos) -> Option<Nanos> {
        if read.saturating_sub(self.offset.borrow().at) >= SAMPLE_EVERY && self.sample() {
            return None;
        }
        self.offset.borrow().place(stamp, read)
    }

    /// Takes the best of a few samples; whether the clock stepped since the last.
    fn sample(&self) -> bool {
        let mut best: Option<Sample> = None;
        for _ in 0..4 {
            let before = self.run.now();
            let real = sys::realtime();
            let after = self.run.now();
            let sample = Sample { run: Nanos(u64::midpoint(before.0, after.0)), real, width: after - before };
            if best.is_none_or(|b| sample.width < b.width) {
                best = Some(sample);
            }
            if sample.width <= WIDTH {
                break;
            }
        }
        let stepped = best.is_some_and(|s| self.offset.borrow_mut().observe(s));
        if stepped {
            self.steps.set(self.steps.get() + 1);
        }
        stepped
    }
}

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug)]
struct Sample {
    run: Nanos,
    real: u64,
    /// Time that the reading took: the moment is known to half of it.
    width: Nanos,
}

/// Real time minus the run's time.
#[derive(Clone, Copy, Debug, Default)]
struct Offset {
    /// Nanoseconds; `None` before the first sample.
    real_minus_run: Option<i64>,
    at: Nanos,
    width: Nanos,
}

impl Offset {
    /// Takes a sample; whether the clock stepped since the last.
    fn observe(&mut self, s: Sample) -> bool {
        let new = s.real as i64 - s.run.0 as i64;
        let elapsed = s.run.saturating_sub(self.at);
        let slack = TOLERANCE_NS + elapsed.0 / SLEW + (s.width + self.width).0;
        let stepped = self.real_minus_run.is_some_and(|old| old.abs_diff(new) > slack);
        *self = Offset { real_minus_run: Some(new), at: s.run, width: s.width };
        stepped
    }

    /// Never later than the read that brought the bytes.
    fn place(&self, stamp: u64, read: Nanos) -> Option<Nanos> {
        let at = stamp as i64 - self.real_minus_run?;
        u64::try_from(at).ok().map(|at| Nanos(at).min(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL: u64 = 1_796_000_000_000_000_000;

    fn sample(run: u64, real: u64) -> Sample {
        Sample { run: Nanos(run), real, width: Nanos(100) }
    }

    #[test]
    fn a_stamp_is_placed_and_never_after_its_read() {
        let mut o = Offset::default();
        assert_eq!(o.place(REAL, Nanos(5)), None);
        assert!(!o.observe(sample(1_000, REAL)));
        assert_eq!(o.place(REAL + 500, Nanos(9_000)), Some(Nanos(1_500)));
        assert_eq!(o.place(REAL + 500, Nanos(1_400)), Some(Nanos(1_400)));
    }

    #[test]
    fn slewing_is_no_step_and_a_step_is_one() {
        let mut o = Offset::default();
        o.observe(sample(0, REAL));
        let second = 1_000_000_000;
        assert!(!o.observe(sample(second, REAL + second + 500_000)));
        assert!(o.observe(sample(second + 1_000_000, REAL + second + 1_000_000)));
        assert!(!o.observe(sample(second + 2_000_000, REAL + second + 2_000_000)));
    }
}
