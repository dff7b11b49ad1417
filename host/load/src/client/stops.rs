//! What stops the tasks of a load thread, without a lock or a look at shared memory for each event.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};
use tokio::sync::Notify;

/// Why everything in flight ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    User,
    DrainTimeout,
}

/// A load thread's stop signals.
#[derive(Default)]
pub(crate) struct Stops {
    /// Nothing may be sent any more, and why.
    closed: Cell<Option<&'static str>>,
    cut: Cell<Option<Cut>>,
    wakers: RefCell<Vec<Option<Waker>>>,
    free: RefCell<Vec<usize>>,
}

impl Stops {
    pub(crate) fn closed(&self) -> Option<&'static str> {
        self.closed.get()
    }

    pub(crate) fn cut(&self) -> Option<Cut> {
        self.cut.get()
    }

    /// Nothing more is sent.
    pub(crate) fn close(&self, why: &'static str) {
        if self.closed.get().is_none() {
            self.closed.set(Some(why));
            self.wake();
        }
    }

    /// What is in flight ends.
    pub(crate) fn cut_all(&self, why: Cut) {
        self.close("the load was cut before it was sent");
        if self.cut.get().is_none() {
            self.cut.set(Some(why));
            self.wake();
        }
    }

    fn wake(&self) {
        for waker in self.wakers.borrow().iter().flatten() {
            waker.wake_by_ref();
        }
    }

    /// Has the current task woken at every signal, until the guard is dropped.
    pub(crate) async fn listen(self: &Rc<Self>) -> Listening {
        let waker = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
        let mut wakers = self.wakers.borrow_mut();
        let slot = match self.free.borrow_mut().pop() {
            Some(slot) => {
                wakers[slot] = Some(waker);
                slot
            }
            None => {
                wakers.push(Some(waker));
                wakers.len() - 1
            }
        };
        Listening { stops: self.clone(), slot }
    }

    /// Runs `future` until nothing more is sent. The task has to listen.
    pub(crate) async fn unless_closed<F: Future>(&self, future: F) -> Result<F::Output, &'static str> {
        let mut future = pin!(future);
        poll_fn(|cx| match self.closed.get() {
            Some(why) => Poll::Ready(Err(why)),
            None => future.as_mut().poll(cx).map(Ok),
        })
        .await
    }

    /// Runs `future` until everything is cut. The task has to listen.
    pub(crate) async fn unless_cut<F: Future>(&self, future: F) -> Result<F::Output, Cut> {
        let mut future = pin!(future);
        poll_fn(|cx| match self.cut.get() {
            Some(why) => Poll::Ready(Err(why)),
            None => future.as_mut().poll(cx).map(Ok),
        })
        .await
    }
}

/// A task that is woken at every signal.
pub(crate) struct Listening {
    stops: Rc<Stops>,
    slot: usize,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stops.wakers.borrow_mut()[self.slot] = None;
        self.stops.free.borrow_mut().push(self.slot);
    }
}

/// A moment that is reached once, told to all threads.
#[derive(Debug, Default)]
pub(crate) struct Moment {
    reached: AtomicBool,
    told: Notify,
}

impl Moment {
    pub(crate) fn reach(&self) {
        self.reached.store(true, Ordering::SeqCst);
        self.told.notify_waiters();
    }

    pub(crate) fn is_reached(&self) -> bool {
        self.reached.load(Ordering::SeqCst)
    }

    pub(crate) async fn wait(&self) {
        let mut told = pin!(self.told.notified());
        told.as_mut().enable();
        if !self.is_reached() {
            told.await;
        }
    }
}
