//! The clock of deadlines: moves the runtime's epoch on while calls run, and sleeps while none does, so
//! that it never wakes a core during a measurement.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Length of a tick.
pub(crate) const TICK: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    calls: usize,
    closed: bool,
}

impl Shared {
    fn change(&self, f: impl FnOnce(&mut State)) {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_one();
    }
}

/// Owns the ticking thread.
#[derive(Debug)]
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// The ticker ticks while one of these lives.
#[derive(Debug)]
pub(crate) struct Running<'a>(&'a Shared);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.change(|s| s.calls -= 1);
    }
}

impl Ticker {
    /// Starts the thread; `tick` is called about every [`TICK`] while a call runs.
    pub(crate) fn start(tick: impl Fn() + Send + 'static) -> std::io::Result<Ticker> {
        let shared = Arc::new(Shared::default());
        let seen = shared.clone();
        let thread = std::thread::Builder::new().name("adapter-ticker".to_owned()).spawn(move || {
            let mut state = seen.state.lock().unwrap_or_else(PoisonError::into_inner);
            while !state.closed {
                if state.calls == 0 {
                    state = seen.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                // Calls that come and go wake this thread: the tick is due by the clock, not by the wait.
                let due = Instant::now() + TICK;
                while !state.closed && state.calls > 0 {
                    let Some(left) = due.checked_duration_since(Instant::now()).filter(|d| !d.is_zero()) else { break };
                    (state, _) = seen.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
                }
                tick();
            }
        })?;
        Ok(Ticker { shared, thread: Some(thread) })
    }

    /// Says that a call runs.
    pub(crate) fn run(&self) -> Running<'_> {
        self.shared.change(|s| s.calls += 1);
        Running(&self.shared)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.change(|s| s.closed = true);
        if let Some(thread) = self.thread.take() {
            // The thread panics only if `tick` does; there is nothing left to tell anyone.
            let _ = thread.join();
        }
    }
}
