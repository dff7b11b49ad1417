//! What a thread has to send next, and when.

use crate::schedule::Schedule;
use crate::worker::Shared;
use bench_core::clock::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;

/// A request whose time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) request: u64,
    pub(super) scheduled: Nanos,
    pub(super) admitted: Nanos,
}

/// A thread's part of the schedule.
#[derive(Debug)]
pub(super) enum Sends {
    /// Every n-th request of an open loop.
    Open { next: u64 },
    /// An open loop with a cap: whichever thread has a slot takes the next request.
    Capped { free: u32, free_since: Nanos },
    /// Slots of a closed loop, by the time when they may send.
    Closed { ready: BinaryHeap<Reverse<Nanos>> },
}

impl Sends {
    /// Nothing to send.
    pub(super) fn nothing() -> Sends {
        Sends::Closed { ready: BinaryHeap::new() }
    }

    pub(super) fn new(shared: &Shared, id: u32, t0: Nanos) -> Sends {
        // The first threads take what doesn't divide evenly.
        let share = |all: u32| all / shared.threads + u32::from(id < all % shared.threads);
        match &shared.schedule {
            Schedule::Open { most_in_flight: None, .. } => Sends::Open { next: u64::from(id) },
            Schedule::Open { most_in_flight: Some(most), .. } => Sends::Capped { free: share(*most), free_since: t0 },
            Schedule::Closed { slots, .. } => {
                Sends::Closed { ready: (0..share(*slots)).map(|_| Reverse(t0)).collect() }
            }
        }
    }

    /// When the next request may be sent; `None` while there is none, or no slot for it.
    pub(super) fn next(&self, shared: &Shared, t0: Nanos) -> Option<Nanos> {
        let due = |request: u64| match &shared.schedule {
            Schedule::Open { due, .. } => due.get(request as usize).map(|d| t0 + *d),
            Schedule::Closed { .. } => None,
        };
        match self {
            Sends::Open { next } => due(*next),
            Sends::Capped { free: 0, .. } => None,
            Sends::Capped { .. } => due(shared.next.load(Ordering::Relaxed)),
            Sends::Closed { ready } => ready.peek().map(|Reverse(at)| *at),
        }
    }

    /// Takes the next request, if its time has come and another thread didn't take it.
    pub(super) fn take(&mut self, shared: &Shared, t0: Nanos, now: Nanos) -> Option<Ready> {
        let scheduled = self.next(shared, t0).filter(|at| *at <= now)?;
        match self {
            Sends::Open { next } => {
                let request = *next;
                *next += u64::from(shared.threads);
                Some(Ready { request, scheduled, admitted: scheduled })
            }
            Sends::Capped { free, free_since } => {
                let request = claim(shared, scheduled, t0)?;
                *free -= 1;
                Some(Ready { request, scheduled, admitted: scheduled.max(*free_since) })
            }
            Sends::Closed { ready } => {
                ready.pop();
                let Schedule::Closed { requests, .. } = shared.schedule else { return None };
                let over = shared.duration.is_some_and(|d| scheduled >= t0 + d);
                let request = (!over).then(|| shared.next.fetch_add(1, Ordering::Relaxed));
                let request = request.filter(|r| requests.is_none_or(|n| *r < n));
                let Some(request) = request else {
                    // Nothing is left for any slot.
                    ready.clear();
                    return None;
                };
                if requests == Some(request + 1) {
                    shared.last_send.reach();
                }
                Some(Ready { request, scheduled, admitted: scheduled })
            }
        }
    }

    /// The slot of a request is free again: for a closed loop from `from` on.
    pub(super) fn free(&mut self, shared: &Shared, t0: Nanos, now: Nanos, from: Nanos) {
        match self {
            Sends::Open { .. } => {}
            Sends::Capped { free, free_since } => {
                if *free == 0 {
                    *free_since = now;
                }
                *free += 1;
            }
            Sends::Closed { ready } => {
                let Schedule::Closed { requests, .. } = shared.schedule else { return };
                let all_taken = requests.is_some_and(|n| shared.next.load(Ordering::Relaxed) >= n);
                if !all_taken && shared.duration.is_none_or(|d| from < t0 + d) {
                    ready.push(Reverse(from));
                }
            }
        }
    }

    /// Nothing more is sent: takes what is due by `now` and was not sent, of an open loop.
    pub(super) fn drop_due(&mut self, shared: &Shared, t0: Nanos, now: Nanos) -> Vec<Ready> {
        if let Sends::Closed { ready } = self {
            ready.clear();
            return Vec::new();
        }
        if let Sends::Capped { free, .. } = self {
            // What waits for a slot is told by whichever thread comes first.
            *free = u32::MAX;
        }
        let mut due = Vec::new();
        while self.next(shared, t0).is_some_and(|at| at <= now) {
            due.extend(self.take(shared, t0, now));
        }
        match self {
            Sends::Open { next } => *next = u64::MAX,
            Sends::Capped { free, .. } => *free = 0,
            Sends::Closed { .. } => {}
        }
        due
    }

    /// Nothing is left to send, now or later, whatever becomes of requests in flight.
    pub(super) fn is_over(&self, shared: &Shared) -> bool {
        match (self, &shared.schedule) {
            (Sends::Open { next }, Schedule::Open { due, .. }) => *next >= due.len() as u64,
            (Sends::Capped { .. }, Schedule::Open { due, .. }) => {
                shared.next.load(Ordering::Relaxed) >= due.len() as u64
            }
            (Sends::Closed { ready }, _) => ready.is_empty(),
            _ => true,
        }
    }
}

/// Takes the next request of an open loop with a cap for this thread; `None` where another was faster.
fn claim(shared: &Shared, scheduled: Nanos, t0: Nanos) -> Option<u64> {
    let Schedule::Open { due, .. } = &shared.schedule else { return None };
    let request = shared.next.load(Ordering::Relaxed);
    let is_it = due.get(request as usize).is_some_and(|d| t0 + *d == scheduled);
    let taken =
        is_it && shared.next.compare_exchange(request, request + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    taken.then_some(request)
}
