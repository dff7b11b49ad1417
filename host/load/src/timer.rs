//! Due times on a timerfd: tokio's own timer rounds up to whole milliseconds and adds one.

use crate::clockmap::WorkerClock;
use bench_core::clock::Nanos;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A load thread's due times.
pub(crate) struct Timers {
    clock: Rc<WorkerClock>,
    fd: AsyncFd<OwnedFd>,
    waiting: RefCell<BTreeMap<(Nanos, u64), Waker>>,
    /// Earliest of `waiting`.
    next: Cell<Option<Nanos>>,
    entries: Cell<u64>,
    /// Sends that are due and not yet handed to the kernel.
    urgent: Cell<u32>,
}

impl Timers {
    /// Needs the thread's runtime.
    pub(crate) fn new(clock: Rc<WorkerClock>) -> io::Result<Timers> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // SAFETY: the `AsyncFd` owns the descriptor, so it stays open and the same while it is registered.
        let fd = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE)? };
        Ok(Timers {
            clock,
            fd,
            waiting: RefCell::default(),
            next: Cell::new(None),
            entries: Cell::new(0),
            urgent: Cell::new(0),
        })
    }

    /// Wakes what is due, for ever. Runs as a task of its own.
    pub(crate) async fn drive(&self) {
        loop {
            let Ok(mut ready) = self.fd.readable().await else { return };
            let mut expirations = [0u8; 8];
            let _ = ready.try_io(|fd| rustix::io::read(fd, &mut expirations).map_err(io::Error::from));
            self.fire(self.clock.now());
        }
    }

    /// Waits until `due`.
    pub(crate) async fn until(&self, due: Nanos) {
        let mut waits = false;
        poll_fn(|cx| {
            if self.clock.now() >= due {
                return Poll::Ready(());
            }
            if !std::mem::replace(&mut waits, true) {
                let entry = self.entries.get();
                self.entries.set(entry + 1);
                self.waiting.borrow_mut().insert((due, entry), cx.waker().clone());
                if self.next.get().is_none_or(|next| due < next) {
                    self.arm(Some(due));
                }
            }
            Poll::Pending
        })
        .await;
    }

    fn fire(&self, now: Nanos) {
        let mut waiting = self.waiting.borrow_mut();
        while let Some(first) = waiting.first_entry() {
            if first.key().0 > now {
                break;
            }
            first.remove().wake();
        }
        let next = waiting.first_key_value().map(|((due, _), _)| *due);
        drop(waiting);
        self.arm(next);
    }

    fn arm(&self, next: Option<Nanos>) {
        self.next.set(next);
        // A value of zero disarms, so a time that is past becomes 1 ns.
        let wait = next.map_or(0, |n| n.saturating_sub(self.clock.now()).0.max(1));
        let value = Timespec { tv_sec: (wait / 1_000_000_000) as i64, tv_nsec: (wait % 1_000_000_000) as i64 };
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        let set = Itimerspec { it_interval: none, it_value: value };
        let armed = rustix::time::timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::empty(), &set);
        debug_assert!(armed.is_ok(), "a timerfd takes any time: {armed:?}");
    }

    /// Sends go before reads: where a send is due, the task that asks goes to the end of the queue. The
    /// kernel's stamps make a later read harmless, a later send is lost time.
    pub(crate) fn poll_after_sends(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.next.get().is_some_and(|next| next <= self.clock.now()) {
            self.fire(self.clock.now());
        } else if self.urgent.get() == 0 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// A send that is due now.
    pub(crate) fn urgent(self: &Rc<Self>) -> Urgent {
        self.urgent.set(self.urgent.get() + 1);
        Urgent(self.clone())
    }
}

/// Holds back reads until it is dropped.
pub(crate) struct Urgent(Rc<Timers>);

impl Drop for Urgent {
    fn drop(&mut self) {
        self.0.urgent.set(self.0.urgent.get() - 1);
    }
}
