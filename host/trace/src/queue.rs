//! A queue between threads that is bounded by the bytes in it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// First in, first out; bounded by weight. What is heavier than the whole bound waits until the queue is empty,
/// and then goes through alone.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    not_empty: Condvar,
    not_full: Condvar,
    bound: usize,
}

struct State<T> {
    items: VecDeque<T>,
    weight: usize,
    /// Someone waits for room.
    pressed: bool,
    closed: bool,
}

/// What came out of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Popped {
    /// Items, or nothing in time.
    Open,
    /// Nothing, and nothing will come.
    Closed,
}

impl<T> Queue<T> {
    /// An empty queue with room for `bound`.
    pub(crate) const fn new(bound: usize) -> Queue<T> {
        Queue {
            state: Mutex::new(State { items: VecDeque::new(), weight: 0, pressed: false, closed: false }),
            not_empty: Condvar::new(),
            not_full: Condvar::new(),
            bound,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an item in, and waits for room for it. Gives it back where the queue is closed.
    pub(crate) fn push(&self, item: T, weight: usize) -> Result<(), T> {
        let mut state = self.lock();
        while !state.closed && state.weight > 0 && state.weight + weight > self.bound {
            // What is in may be less than a taker that lingers waits for.
            state.pressed = true;
            self.not_empty.notify_one();
            state = self.not_full.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return Err(item);
        }
        let first = state.items.is_empty();
        let before = state.weight;
        state.items.push_back(item);
        state.weight += weight;
        let enough = before < self.enough() && state.weight >= self.enough();
        drop(state);
        // Waking the taker for each item would cost more than the items do.
        if first || enough {
            self.not_empty.notify_one();
        }
        Ok(())
    }

    /// Weight that a lingering taker waits for.
    const fn enough(&self) -> usize {
        self.bound / 4
    }

    /// Takes everything out into the empty `out`. Waits for something, at most `wait`; once there is something,
    /// lingers for more, at most `linger`, so that items come in batches.
    pub(crate) fn pop_all(&self, wait: Option<Duration>, linger: Duration, out: &mut VecDeque<T>) -> Popped {
        let state = self.lock();
        let empty = |s: &mut State<T>| s.items.is_empty() && !s.closed;
        let state = match wait {
            Some(wait) => {
                self.not_empty.wait_timeout_while(state, wait, empty).unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.not_empty.wait_while(state, empty).unwrap_or_else(PoisonError::into_inner),
        };
        let few = |s: &mut State<T>| !s.items.is_empty() && s.weight < self.enough() && !s.pressed && !s.closed;
        let mut state = self.not_empty.wait_timeout_while(state, linger, few).unwrap_or_else(PoisonError::into_inner).0;
        if state.items.is_empty() && state.closed {
            return Popped::Closed;
        }
        std::mem::swap(&mut state.items, out);
        state.weight = 0;
        state.pressed = false;
        drop(state);
        self.not_full.notify_all();
        Popped::Open
    }

    /// Lets nothing more in. What is in still comes out.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.not_empty.notify_all();
        self.not_full.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_holds_more_than_its_bound_and_loses_nothing() {
        let queue = Queue::new(10);
        let mut seen = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for i in 0..10_000usize {
                    queue.push(i, 1 + i % 4).unwrap();
                }
                queue.close();
            });
            let mut out = VecDeque::new();
            while queue.pop_all(None, Duration::ZERO, &mut out) == Popped::Open {
                assert!(out.iter().map(|i| 1 + i % 4).sum::<usize>() <= 10);
                seen.extend(out.drain(..));
            }
        });
        assert_eq!(seen, (0..10_000).collect::<Vec<_>>());
    }

    #[test]
    fn lets_through_what_is_heavier_than_the_bound() {
        let queue = Queue::new(10);
        queue.push("heavy", 1_000).unwrap();
        let mut out = VecDeque::new();
        assert_eq!(queue.pop_all(Some(Duration::ZERO), Duration::ZERO, &mut out), Popped::Open);
        assert_eq!(out, ["heavy"]);
    }

    #[test]
    fn gives_back_what_comes_after_the_end() {
        let queue = Queue::new(10);
        queue.push(1, 1).unwrap();
        queue.close();
        assert_eq!(queue.push(2, 1), Err(2));
        let mut out = VecDeque::new();
        assert_eq!(queue.pop_all(None, Duration::ZERO, &mut out), Popped::Open);
        out.clear();
        assert_eq!(queue.pop_all(None, Duration::ZERO, &mut out), Popped::Closed);
        assert!(out.is_empty());
    }

    /// Would hang if a taker that lingers were not told of an item that waits for room.
    #[test]
    fn does_not_linger_while_an_item_waits_for_room() {
        let queue = Queue::new(10);
        let forever = Duration::from_secs(1 << 30);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                queue.push(1, 1).unwrap();
                queue.push(2, 10).unwrap();
                queue.close();
            });
            let (mut seen, mut out) = (Vec::new(), VecDeque::new());
            while queue.pop_all(None, forever, &mut out) == Popped::Open {
                seen.extend(out.drain(..));
            }
            assert_eq!(seen, [1, 2]);
        });
    }
}
