//! Progress of long work on stderr: a line that redraws itself on a terminal, plain lines now and then elsewhere.

use crate::terminal::Terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the terminal's line is drawn: rarely, so that the client's threads aren't disturbed.
const REDRAW: Duration = Duration::from_millis(500);
/// How often a plain line is printed.
const PLAIN: Duration = Duration::from_secs(10);

/// What a load has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Requests over, failed ones among them.
    pub(crate) done: u64,
    /// Requests in flight.
    pub(crate) in_flight: u64,
    /// Requests failed.
    pub(crate) failed: u64,
    /// Stream events with content so far.
    pub(crate) events: u64,
}

/// How much there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    /// Requests, where known.
    pub(crate) requests: Option<u64>,
    /// Length of the load, where it ends by time.
    pub(crate) duration: Option<Duration>,
}

/// Shows progress while it lives.
pub(crate) struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Shows nothing.
    pub(crate) fn none() -> Progress {
        Progress { stop: None, thread: None }
    }

    /// Shows what waits and for how long: launching, stopping.
    pub(crate) fn waiting(terminal: Terminal, quiet: bool, label: &str) -> Progress {
        let label = label.to_owned();
        Progress::start(terminal, quiet, move |elapsed| format!("{label} {}s", elapsed.as_secs()))
    }

    /// Shows a load.
    pub(crate) fn load(
        terminal: Terminal,
        quiet: bool,
        label: &str,
        whole: Whole,
        look: impl Fn() -> Snapshot + Send + 'static,
    ) -> Progress {
        let label = label.to_owned();
        let mut before = (Duration::ZERO, 0);
        Progress::start(terminal, quiet, move |elapsed| {
            let now = look();
            let seconds = (elapsed.saturating_sub(before.0)).as_secs_f64();
            let rate = if seconds > 0.0 { now.events.saturating_sub(before.1) as f64 / seconds } else { 0.0 };
            before = (elapsed, now.events);
            load_line(&label, now, whole, elapsed, rate)
        })
    }

    fn start(terminal: Terminal, quiet: bool, mut line: impl FnMut(Duration) -> String + Send + 'static) -> Progress {
        if quiet {
            return Progress::none();
        }
        let (stop, stopped) = channel();
        let watched = terminal.is_watched();
        let thread = std::thread::Builder::new().name("progress".into()).spawn(move || {
            let start = Instant::now();
            let bar = watched.then(bar);
            let period = if watched { REDRAW } else { PLAIN };
            while stopped.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
                let text = line(start.elapsed());
                match &bar {
                    Some(bar) => {
                        bar.set_message(text);
                        bar.tick();
                    }
                    None => terminal.say(&text),
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        // Without a thread there is no progress; the work goes on.
        Progress { stop: Some(stop), thread: thread.ok() }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar
}

/// `sharegpt: 120/1000 done, 4 in flight, 830 tokens/s, 0 failed, about 42s left`.
fn load_line(label: &str, now: Snapshot, whole: Whole, elapsed: Duration, rate: f64) -> String {
    let of = whole.requests.map_or(String::new(), |n| format!("/{n}"));
    let left = left(now.done, whole, elapsed).map_or(String::new(), |s| format!(", about {}s left", s.as_secs()));
    format!(
        "{label}: {}{of} done, {} in flight, {rate:.0} events/s, {} failed{left}",
        now.done, now.in_flight, now.failed
    )
}

/// Time left: by requests at the pace so far, by time where the load ends by time; the lesser of both.
fn left(done: u64, whole: Whole, elapsed: Duration) -> Option<Duration> {
    let by_requests = whole.requests.filter(|_| done > 0).map(|n| {
        let more = n.saturating_sub(done) as f64;
        Duration::from_secs_f64(elapsed.as_secs_f64() / done as f64 * more)
    });
    let by_time = whole.duration.map(|d| d.saturating_sub(elapsed));
    match (by_requests, by_time) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Whole = Whole { requests: Some(1000), duration: None };

    #[test]
    fn a_line_says_what_is_done_and_what_is_left() {
        let now = Snapshot { done: 250, in_flight: 4, failed: 1, events: 900 };
        let line = load_line("chat", now, WHOLE, Duration::from_secs(10), 90.4);
        assert_eq!(line, "chat: 250/1000 done, 4 in flight, 90 events/s, 1 failed, about 30s left");
    }

    #[test]
    fn nothing_done_says_nothing_of_the_time_left() {
        let line = load_line("chat", Snapshot::default(), WHOLE, Duration::from_secs(10), 0.0);
        assert_eq!(line, "chat: 0/1000 done, 0 in flight, 0 events/s, 0 failed");
    }

    #[test]
    fn the_lesser_of_time_and_requests_is_left() {
        let whole = Whole { duration: Some(Duration::from_secs(60)), ..WHOLE };
        assert_eq!(left(100, whole, Duration::from_secs(10)), Some(Duration::from_secs(50)));
        assert_eq!(left(900, whole, Duration::from_secs(9)), Some(Duration::from_secs(1)));
    }
}
