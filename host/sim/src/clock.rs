//! The machine's clocks, and a timer that keeps its time to the microsecond.

use bench_core::clock::Nanos;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::unix::AsyncFd;

fn nanos(t: Timespec) -> u64 {
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// CLOCK_MONOTONIC.
pub(crate) fn monotonic() -> Nanos {
    Nanos(nanos(clock_gettime(ClockId::Monotonic)))
}

/// CLOCK_REALTIME, nanoseconds since 1970.
pub(crate) fn realtime() -> u64 {
    nanos(clock_gettime(ClockId::Realtime))
}

/// A point of CLOCK_REALTIME as one of CLOCK_MONOTONIC. `None` where it is not of the last ten seconds: then the
/// clock was set.
pub(crate) fn to_monotonic(realtime_ns: u64) -> Option<Nanos> {
    let age = realtime().checked_sub(realtime_ns).filter(|age| *age < 10_000_000_000)?;
    Some(monotonic() - Nanos(age))
}

/// A timer on CLOCK_MONOTONIC. The runtime's own counts in whole milliseconds.
pub(crate) struct Timer {
    fd: AsyncFd<OwnedFd>,
}

impl Timer {
    /// Must be made inside a runtime.
    pub(crate) fn new() -> io::Result<Timer> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        // SAFETY: an `OwnedFd` gives the same open descriptor until it is dropped, and nothing takes it out.
        let fd = unsafe { AsyncFd::register(fd) }?;
        Ok(Timer { fd })
    }

    /// Waits for a point of time; at once where it has passed.
    pub(crate) async fn until(&self, due: Nanos) -> io::Result<()> {
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        // An all-zero time would disarm the timer.
        let at = due.0.max(1);
        let value = Timespec { tv_sec: (at / 1_000_000_000) as i64, tv_nsec: (at % 1_000_000_000) as _ };
        let spec = Itimerspec { it_interval: zero, it_value: value };
        timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::ABSTIME, &spec)?;
        loop {
            let mut ready = self.fd.readable().await?;
            let mut count = [0_u8; 8];
            match ready.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut count)?)) {
                Ok(read) => return read.map(|_| ()),
                Err(_not_ready) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timer_is_never_early() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let timer = Timer::new().unwrap();
            for us in [0, 1, 100, 1500, 3000] {
                let due = monotonic() + Nanos(us * 1000);
                timer.until(due).await.unwrap();
                assert!(monotonic() >= due);
            }
        });
    }

    #[test]
    fn clocks_translate() {
        let (before, at, after) = (monotonic(), to_monotonic(realtime()).unwrap(), monotonic());
        // The two clocks are read at slightly different moments.
        assert!(at + Nanos(50_000_000) >= before && at <= after);
        assert_eq!(to_monotonic(5), None);
    }
}
