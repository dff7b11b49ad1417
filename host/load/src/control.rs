//! The handle by which another thread watches a load and stops it.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use tokio::sync::Notify;

/// Shared between the load and whoever started it.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicU8,
    changed: Notify,
    sent: AtomicU64,
    in_flight: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
    events: AtomicU64,
    tokens: AtomicU64,
}

/// How far a load is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Requests handed to a connection so far; a second attempt counts once more.
    pub sent: u64,
    /// Of them still open.
    pub in_flight: u64,
    /// Requests that are over, whatever their outcome.
    pub done: u64,
    /// Of them failed.
    pub failed: u64,
    /// Stream events so far.
    pub events: u64,
    /// Output tokens of the requests that are over.
    pub tokens: u64,
}

/// What a load was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Told {
    Run,
    Drain,
    Cut,
}

impl Control {
    /// A control that has told nothing yet.
    pub fn new() -> Control {
        Control::default()
    }

    /// Sends nothing more; what is in flight may end. Requests that are due and wait for a slot become
    /// rows with the outcome dropped.
    pub fn drain(&self) {
        self.stop.fetch_max(1, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// Ends everything at once: requests in flight become rows with the outcome cancelled.
    pub fn cut(&self) {
        self.stop.fetch_max(2, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// How far the load is.
    pub fn progress(&self) -> Progress {
        let get = |a: &AtomicU64| a.load(Ordering::Relaxed);
        Progress {
            sent: get(&self.sent),
            in_flight: get(&self.in_flight),
            done: get(&self.done),
            failed: get(&self.failed),
            events: get(&self.events),
            tokens: get(&self.tokens),
        }
    }

    pub(crate) fn told(&self) -> Told {
        match self.stop.load(Ordering::SeqCst) {
            0 => Told::Run,
            1 => Told::Drain,
            _ => Told::Cut,
        }
    }

    /// Waits until it is told more than `before`.
    pub(crate) async fn told_more_than(&self, before: Told) -> Told {
        loop {
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            let told = self.told();
            if told > before {
                return told;
            }
            changed.await;
        }
    }

    pub(crate) fn started(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn add_events(&self, n: u64) {
        self.events.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn row(&self, failed: bool, tokens: u32) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(failed), Ordering::Relaxed);
        self.tokens.fetch_add(u64::from(tokens), Ordering::Relaxed);
    }
}
