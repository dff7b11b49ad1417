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
            state: Mutex::new(State { items: VecDeque::new(), weight: 0, closed: false }),
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
            state = self.not_full.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return Err(item);
        }
        state.items.push_back(item);
        state.weight += weight;
        drop(state);
        self.not_empty.notify_one();
        Ok(())
    }

    /// Takes everything out into the empty `out`; waits for something, at most `wait`.
    pub(crate) fn pop_all(&self, wait: Option<Duration>, out: &mut VecDeque<T>) -> Popped {
        let state = self.lock();
        let waiting = |s: &mut State<T>| s.items.is_empty() && !s.closed;
        let mut state = match wait {
            Some(wait) => {
                self.not_empty.wait_timeout_while(state, wait, waiting).unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.not_empty.wait_while(state, waiting).unwrap_or_else(PoisonError::into_inner),
        };
        if state.items.is_empty() && state.closed {
            return Popped::Closed;
        }
        std::mem::swap(&mut state.items, out);
        state.weight = 0;
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
            while queue.pop_all(None, &mut out) == Popped::Open {
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
        assert_eq!(queue.pop_all(Some(Duration::ZERO), &mut out), Popped::Open);
        assert_eq!(out, ["heavy"]);
    }

    #[test]
    fn gives_back_what_comes_after_the_end() {
        let queue = Queue::new(10);
        queue.push(1, 1).unwrap();
        queue.close();
        assert_eq!(queue.push(2, 1), Err(2));
        let mut out = VecDeque::new();
        assert_eq!(queue.pop_all(None, &mut out), Popped::Open);
        out.clear();
        assert_eq!(queue.pop_all(None, &mut out), Popped::Closed);
        assert!(out.is_empty());
    }
}
