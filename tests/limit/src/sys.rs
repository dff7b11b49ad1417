//! Clocks, CPU time, and where and how a process runs.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

fn read_clock(clock: libc::clockid_t) -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: the call fills the timespec; where it fails the zeroes stand, which are a valid one.
    let time = unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    };
    nanos(time)
}

/// A timespec of a clock, in ns.
pub(crate) const fn nanos(time: libc::timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// So many ns as a timespec.
pub(crate) fn timespec(ns: u64) -> libc::timespec {
    // SAFETY: all zeroes is a valid timespec.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    time.tv_sec = (ns / 1_000_000_000) as _;
    time.tv_nsec = (ns % 1_000_000_000) as _;
    time
}

/// The monotonic clock, ns.
#[inline]
pub fn monotonic() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// The real-time clock, ns since the epoch: that of the kernel's receive stamps.
#[inline]
pub fn realtime() -> u64 {
    read_clock(libc::CLOCK_REALTIME)
}

/// CPU time that this process has used, ns.
pub fn process_cpu() -> u64 {
    read_clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time of a process by where it was spent, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// In the program.
    pub user: u64,
    /// In the kernel for it.
    pub system: u64,
}

impl CpuTimes {
    /// What this process has used.
    pub fn now() -> CpuTimes {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the call fills the structure; where it fails the zeroes stand, which are a valid one.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
            usage.assume_init()
        };
        CpuTimes::of(&usage)
    }

    /// What a rusage tells.
    pub(crate) const fn of(usage: &libc::rusage) -> CpuTimes {
        CpuTimes { user: timeval(usage.ru_utime), system: timeval(usage.ru_stime) }
    }

    /// What was used since.
    #[must_use]
    pub const fn since(self, earlier: CpuTimes) -> CpuTimes {
        CpuTimes { user: self.user.saturating_sub(earlier.user), system: self.system.saturating_sub(earlier.system) }
    }

    /// Both together.
    pub const fn total(self) -> u64 {
        self.user + self.system
    }
}

const fn timeval(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000
}

fn check(rc: libc::c_int) -> io::Result<()> {
    if rc < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Keeps this thread, and what it starts, on one core. Does nothing that a child may not do between fork and exec.
pub fn pin(core: usize) -> io::Result<()> {
    if core >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: all zeroes is an empty set, and the core is within it.
    check(unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set)
    })
}

/// Puts this thread, and what it starts, above all ordinary ones. Fails where that is not permitted.
pub(crate) fn first_in_first_out(priority: i32) -> io::Result<()> {
    // SAFETY: all zeroes is a valid parameter, whose only field of meaning is set.
    check(unsafe {
        let mut param: libc::sched_param = std::mem::zeroed();
        param.sched_priority = priority;
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const param)
    })
}

/// Takes away the 50 µs by which the kernel may let this thread's waits end late.
pub fn fine_timers() {
    // SAFETY: takes numbers only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

/// Lets this process hold `wanted` files where that is permitted, else as many as its hard limit allows.
pub fn raise_file_limit(wanted: u64) {
    let both = libc::rlimit { rlim_cur: wanted, rlim_max: wanted };
    // SAFETY: the structures live through the calls.
    unsafe {
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const both) != 0 {
            let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
                limit.rlim_cur = limit.rlim_max;
                libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
            }
        }
    }
}

/// Sleeps until a time of the monotonic clock.
pub fn sleep_until(ns: u64) {
    let until = timespec(ns);
    // SAFETY: the timespec lives through the call.
    unsafe {
        libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const until, std::ptr::null_mut());
    }
}

/// Sleeps for so many ns.
pub fn nap(ns: u64) {
    let time = timespec(ns);
    // SAFETY: the timespec lives through the call.
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &raw const time, std::ptr::null_mut()) };
}

/// SIGTERM and SIGINT as a descriptor that becomes readable, so that an event loop can end in good order.
#[derive(Debug)]
pub struct Termination(OwnedFd);

impl Termination {
    /// From here on the two signals end nothing by themselves.
    pub fn listen() -> io::Result<Termination> {
        // SAFETY: the set is made by the calls that are for it, and lives through the others.
        unsafe {
            let mut set = MaybeUninit::<libc::sigset_t>::uninit();
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
            libc::sigaddset(set.as_mut_ptr(), libc::SIGINT);
            check(libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut()))?;
            let fd = libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            check(fd)?;
            Ok(Termination(OwnedFd::from_raw_fd(fd)))
        }
    }
}

impl AsFd for Termination {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A descriptor that becomes readable when a process is over.
pub(crate) fn process_descriptor(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: takes numbers only; the descriptor is new and ours.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0) as libc::c_int;
        check(fd)?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Waits until a descriptor is readable, for `ms` at most; whether it is.
pub(crate) fn wait_readable(fd: BorrowedFd<'_>, ms: i32) -> io::Result<bool> {
    let mut poll = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the structure lives through the call.
    let n = unsafe { libc::poll(&raw mut poll, 1, ms) };
    check(n)?;
    Ok(n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_and_cpu_time_go_on() {
        let (before, cpu) = (monotonic(), CpuTimes::now());
        assert!(realtime() > 1_700_000_000_000_000_000);
        assert!(monotonic() >= before);
        assert!(CpuTimes::now().since(cpu).total() <= CpuTimes::now().total());
        assert_eq!(nanos(timespec(3_000_000_007)), 3_000_000_007);
    }

    #[test]
    fn a_core_that_cannot_be_is_refused() {
        assert!(pin(usize::MAX).is_err());
    }
}
