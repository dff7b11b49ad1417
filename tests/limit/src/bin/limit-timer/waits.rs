//! Ways to wait for the next send. Each gives the lateness of every send, ns.

use crate::background::Background;
use bench_limit::{Epoll, Interest, monotonic, sleep_until};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// Events that a loop takes before it looks at its timer.
const BATCH: usize = 64;
const A_SECOND: u64 = 1_000_000_000;

/// Sends that are due, as they are made.
struct Sends<'a> {
    start: u64,
    left: std::slice::Iter<'a, u64>,
    late: Vec<u64>,
}

impl<'a> Sends<'a> {
    fn new(schedule: &'a [u64]) -> Sends<'a> {
        Sends { start: monotonic(), left: schedule.iter(), late: Vec::with_capacity(schedule.len()) }
    }

    fn next_due(&self) -> Option<u64> {
        self.left.as_slice().first().map(|due| self.start + due)
    }

    fn send_due(&mut self) {
        while let Some(due) = self.next_due() {
            let Some(late) = monotonic().checked_sub(due) else { return };
            self.late.push(late);
            self.left.next();
        }
    }
}

/// A loop whose wait ends `lead` ns before the next send, which it then spins for.
pub(crate) fn epoll(schedule: &[u64], mut background: Background, lead: u64) -> io::Result<Vec<u64>> {
    let mut epoll = Epoll::new(BATCH)?;
    let mut sends = Sends::new(schedule);
    loop {
        sends.send_due();
        let Some(due) = sends.next_due() else { return Ok(sends.late) };
        if background.serve() {
            continue;
        }
        let until = due.saturating_sub(lead).min(background.next_due().unwrap_or(u64::MAX));
        match until.saturating_sub(monotonic()) {
            0 => std::hint::spin_loop(),
            ns => {
                epoll.wait(ns)?;
            }
        }
    }
}

/// A loop with a timer among its descriptors: what came before the timer in a batch is done first.
pub(crate) fn timerfd(schedule: &[u64], mut background: Background) -> io::Result<Vec<u64>> {
    let timer = descriptor(|| {
        // SAFETY: takes numbers only.
        unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) }
    })?;
    let mut epoll = Epoll::new(BATCH)?;
    epoll.add(&timer, 0, Interest::Read)?;
    let mut sends = Sends::new(schedule);
    let mut armed = 0;
    while let Some(due) = sends.next_due() {
        if armed != due {
            set_timer(&timer, due)?;
            armed = due;
        }
        (0..BATCH).take_while(|_| background.serve()).for_each(drop);
        let wait = background.next_due().map_or(A_SECOND, |next| next.saturating_sub(monotonic()));
        if epoll.wait(wait)? > 0 {
            sends.send_due();
        }
    }
    Ok(sends.late)
}

/// A thread that sleeps until each send and wakes the loop that makes it.
pub(crate) fn dedicated(schedule: &[u64], mut background: Background) -> io::Result<Vec<u64>> {
    let wake = descriptor(|| {
        // SAFETY: takes numbers only.
        unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) }
    })?;
    let waker = wake.try_clone()?;
    let (due, receiver) = channel();
    let start = monotonic();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for offset in schedule {
                sleep_until(start + offset);
                // Both fail only when nobody waits any more.
                if due.send(start + offset).is_err() || add_one(&waker).is_err() {
                    return;
                }
            }
        });
        receive(&wake, &receiver, &mut background)
    })
}

fn receive(wake: &OwnedFd, due: &Receiver<u64>, background: &mut Background) -> io::Result<Vec<u64>> {
    let mut epoll = Epoll::new(BATCH)?;
    epoll.add(wake, 0, Interest::Read)?;
    let mut late = Vec::new();
    loop {
        match due.try_recv() {
            Ok(due) => {
                late.push(monotonic().saturating_sub(due));
                continue;
            }
            Err(TryRecvError::Disconnected) => return Ok(late),
            Err(TryRecvError::Empty) => {}
        }
        if background.serve() {
            continue;
        }
        // The sender may end after its last wake-up was taken: the wait is short enough to notice.
        let wait = background.next_due().map_or(A_SECOND / 100, |next| next.saturating_sub(monotonic()));
        if epoll.wait(wait)? > 0 {
            drain(wake)?;
        }
    }
}

fn descriptor(make: impl FnOnce() -> libc::c_int) -> io::Result<OwnedFd> {
    let fd = make();
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and ours.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sets a timer anew, which also makes it unreadable.
fn set_timer(timer: &OwnedFd, due: u64) -> io::Result<()> {
    // SAFETY: all zeroes is a valid timer setting.
    let mut setting: libc::itimerspec = unsafe { std::mem::zeroed() };
    setting.it_value.tv_sec = (due / A_SECOND) as _;
    setting.it_value.tv_nsec = (due % A_SECOND) as _;
    // SAFETY: the setting lives through the call.
    let rc = unsafe {
        libc::timerfd_settime(timer.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &raw const setting, std::ptr::null_mut())
    };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn add_one(event: &OwnedFd) -> io::Result<()> {
    let one = 1u64.to_ne_bytes();
    // SAFETY: the bytes live through the call, with their true length.
    let n = unsafe { libc::write(event.as_fd().as_raw_fd(), one.as_ptr().cast(), one.len()) };
    if n == 8 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn drain(event: &OwnedFd) -> io::Result<()> {
    let mut count = [0u8; 8];
    // SAFETY: the bytes live through the call, with their true length.
    let n = unsafe { libc::read(event.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    if n == 8 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
