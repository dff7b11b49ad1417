//! The running engine: its streams, its counters, and the task that keeps its time.

use crate::clock::{Timer, monotonic};
use crate::config::SimConfig;
use crate::engine::{Engine, Release, SeqId};
use bench_core::clock::Nanos;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::sync::Notify;

/// What a stream may send so far.
#[derive(Default)]
pub(crate) struct Progress {
    released: Cell<u32>,
    waker: RefCell<Option<Waker>>,
}

impl Progress {
    /// Tokens that were due so far. Wakes the task when there are more.
    pub(crate) fn released(&self, cx: &Context<'_>) -> u32 {
        let mut waker = self.waker.borrow_mut();
        match waker.as_mut() {
            Some(old) => old.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
        self.released.get()
    }
}

/// All that the connections share.
pub(crate) struct Sim {
    pub(crate) config: SimConfig,
    engine: RefCell<Engine>,
    streams: RefCell<HashMap<SeqId, Stream>>,
    changed: Notify,
    requests: Cell<u64>,
    prompt_tokens: Cell<u64>,
    generated_tokens: Cell<u64>,
}

struct Stream {
    progress: Rc<Progress>,
    prompt_tokens: u32,
}

/// A request in the engine; dropping it takes it out.
pub(crate) struct Ticket {
    sim: Rc<Sim>,
    id: SeqId,
    pub(crate) progress: Rc<Progress>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.sim.streams.borrow_mut().remove(&self.id);
        self.sim.engine.borrow_mut().cancel(self.id, monotonic());
        self.sim.changed.notify_one();
    }
}

impl Ticket {
    /// Waits until so many tokens are due.
    pub(crate) async fn wait(&self, tokens: u32) {
        std::future::poll_fn(|cx| if self.progress.released(cx) >= tokens { Poll::Ready(()) } else { Poll::Pending })
            .await;
    }
}

impl Sim {
    pub(crate) fn new(config: SimConfig) -> Sim {
        Sim {
            engine: RefCell::new(Engine::new(&config)),
            config,
            streams: RefCell::default(),
            changed: Notify::new(),
            requests: Cell::new(0),
            prompt_tokens: Cell::new(0),
            generated_tokens: Cell::new(0),
        }
    }

    /// The number of a new request, from 1.
    pub(crate) fn number(&self) -> SeqId {
        self.requests.set(self.requests.get() + 1);
        self.requests.get()
    }

    /// Takes a request that arrived at `arrived`.
    pub(crate) fn submit(self: &Rc<Sim>, id: SeqId, arrived: Nanos, prompt_tokens: u32, tokens: u32) -> Ticket {
        let progress = Rc::new(Progress::default());
        self.streams.borrow_mut().insert(id, Stream { progress: Rc::clone(&progress), prompt_tokens });
        self.engine.borrow_mut().submit(id, arrived, prompt_tokens, tokens);
        self.changed.notify_one();
        Ticket { sim: Rc::clone(self), id, progress }
    }

    /// Keeps the engine's time; ends only by an error of the timer.
    pub(crate) async fn drive(&self) -> io::Result<()> {
        let timer = Timer::new()?;
        let mut released = Vec::new();
        loop {
            self.engine.borrow_mut().advance(monotonic(), &mut released);
            self.hand_out(&mut released);
            let due = self.engine.borrow_mut().next_due();
            match due {
                Some(due) => {
                    tokio::select! {
                        biased;
                        fired = timer.until(due) => fired?,
                        () = self.changed.notified() => {}
                    }
                }
                None => self.changed.notified().await,
            }
        }
    }

    /// Lets the streams have what was released.
    fn hand_out(&self, released: &mut Vec<Release>) {
        let streams = self.streams.borrow();
        for release in released.drain(..) {
            let Some(stream) = streams.get(&release.id) else { continue };
            if release.first {
                self.prompt_tokens.set(self.prompt_tokens.get() + u64::from(stream.prompt_tokens));
            }
            self.generated_tokens.set(self.generated_tokens.get() + u64::from(release.tokens));
            let progress = &stream.progress;
            progress.released.set(progress.released.get() + release.tokens);
            if let Some(waker) = progress.waker.borrow().as_ref() {
                waker.wake_by_ref();
            }
        }
    }

    /// The engine's metrics in Prometheus' text format.
    pub(crate) fn metrics(&self) -> String {
        let engine = self.engine.borrow();
        let rows = [
            ("num_requests_running", "gauge", "Requests that run now.", engine.running() as u64),
            ("num_requests_waiting", "gauge", "Requests that wait for a place.", engine.waiting() as u64),
            ("requests_total", "counter", "Valid inference requests taken.", self.requests.get()),
            ("prompt_tokens_total", "counter", "Prompt tokens read.", self.prompt_tokens.get()),
            ("generation_tokens_total", "counter", "Tokens generated.", self.generated_tokens.get()),
        ];
        let mut out = String::new();
        for (name, kind, help, value) in rows {
            let model = &self.config.model;
            let _ = write!(out, "# HELP sim:{name} {help}\n# TYPE sim:{name} {kind}\n");
            let _ = writeln!(out, "sim:{name}{{model_name={model:?}}} {value}");
        }
        out
    }
}
