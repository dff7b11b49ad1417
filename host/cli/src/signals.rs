//! Interrupts: the first asks to end well, the second cuts.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

type Action = Box<dyn Fn(u32) + Send>;

/// How often the user interrupted, and what is done about it while something runs.
pub(crate) struct Interrupts {
    shared: Arc<Shared>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    count: AtomicU32,
    action: Mutex<Option<Action>>,
}

impl Interrupts {
    /// Starts to listen for SIGINT, SIGTERM and, unless it is ignored, SIGHUP.
    ///
    /// # Errors
    /// The system refuses the handlers.
    pub(crate) fn listen() -> std::io::Result<Interrupts> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        // `nohup` has SIGHUP ignored, and means it.
        if !is_ignored(SIGHUP) {
            signals.add_signal(SIGHUP)?;
        }
        let handle = signals.handle();
        let shared = Arc::new(Shared { count: AtomicU32::new(0), action: Mutex::new(None) });
        let seen = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("signals".into()).spawn(move || {
            for _ in signals.forever() {
                let n = seen.count.fetch_add(1, Ordering::SeqCst) + 1;
                if let Some(action) = &*seen.action.lock().unwrap_or_else(PoisonError::into_inner) {
                    action(n);
                }
            }
        })?;
        Ok(Interrupts { shared, handle, thread: Some(thread) })
    }

    /// How often the user interrupted so far.
    pub(crate) fn count(&self) -> u32 {
        self.shared.count.load(Ordering::SeqCst)
    }

    /// While the guard lives, every interrupt calls `action` with its number (1 for the first). Those that came
    /// before are told at once.
    pub(crate) fn during(&self, action: impl Fn(u32) + Send + 'static) -> During<'_> {
        // The lock first: an interrupt that comes meanwhile waits for it, so none is lost. One may be told twice, with
        // the same number.
        let mut slot = self.shared.action.lock().unwrap_or_else(PoisonError::into_inner);
        for n in 1..=self.count() {
            action(n);
        }
        *slot = Some(Box::new(action));
        During { of: self }
    }
}

/// Whether this process was started with a signal ignored. Where the system doesn't say, it was not.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|l| u64::from_str_radix(l.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// See [`Interrupts::during`].
pub(crate) struct During<'a> {
    of: &'a Interrupts,
}

impl Drop for During<'_> {
    fn drop(&mut self) {
        *self.of.shared.action.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
