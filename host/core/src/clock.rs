//! One monotonic clock; integer nanoseconds since the run's start.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// A point of the run's clock, or a length of time: nanoseconds since the run's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The run's start, or no time at all.
    pub const ZERO: Nanos = Nanos(0);

    /// A whole number of milliseconds.
    pub const fn from_millis(ms: u64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    /// A whole number of seconds.
    pub const fn from_secs(s: u64) -> Nanos {
        Nanos(s * 1_000_000_000)
    }

    /// Seconds, rounded to whole nanoseconds; negative and not-a-number become zero.
    pub fn from_secs_f64(s: f64) -> Nanos {
        Nanos((s * 1e9).round() as u64)
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time from `earlier` to this one, zero where `earlier` is later.
    pub fn saturating_sub(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// As the standard library's type.
    pub fn to_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

/// Saturates at zero: a length of time is never negative.
impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        self.saturating_sub(other)
    }
}

impl From<Duration> for Nanos {
    fn from(d: Duration) -> Nanos {
        Nanos(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_duration())
    }
}

/// Tells the time since the run's start. Passed in, so that tests bring their own.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Nanos;
}

/// The machine's monotonic clock, zero at its making.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    /// `CLOCK_MONOTONIC` at the start, ns.
    origin: u64,
}

impl MonotonicClock {
    /// A clock that starts now.
    pub fn start() -> MonotonicClock {
        MonotonicClock { origin: monotonic() }
    }

    /// The machine's `CLOCK_MONOTONIC` at the start, ns: what other programs' times on the same machine are
    /// compared by.
    pub fn origin(&self) -> u64 {
        self.origin
    }
}

fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

impl Clock for MonotonicClock {
    fn now(&self) -> Nanos {
        Nanos(monotonic().saturating_sub(self.origin))
    }
}
