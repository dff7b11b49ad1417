//! A load thread: its tasks send requests when they are due and take the answers.

use crate::client::connect::{Connection, Opener};
use crate::client::exchange::{Exchanged, Scope};
use crate::client::pool::Pool;
use crate::client::request::Template;
use crate::client::site::Site;
use crate::client::stops::{Cut, Moment, Stops};
use crate::clockmap::WorkerClock;
use crate::control::{Control, Told};
use crate::decode::outcome::Ending;
use crate::decode::record::{Answer, Attempt, Opening};
use crate::decode::stage::Kept;
use crate::figures::ThreadFigures;
use crate::schedule::Schedule;
use crate::stream::Glance;
use crate::timer::{Timers, Urgent};
use bench_core::clock::{MonotonicClock, Nanos};
use bench_core::decode::Framing;
use bench_core::load::Limits;
use bench_core::request::PreparedRequest;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

/// Memory that finished answers may hold until they are decoded, in KiB. A request beyond it waits before
/// its slot is free again; its times are taken by then.
pub(crate) const KEPT_KIB: usize = 512 << 10;
/// A connection is taken for reused also where it waited this long for its first request: a server may
/// have closed it as idle.
pub(crate) const IDLE: Nanos = Nanos::from_secs(1);
/// Connections of a thread that are being opened at the same time before the load.
pub(crate) const OPENERS: usize = 32;
/// Pause of a closed loop's slot after it found no connection: without it a dead server would use up the
/// requests in an instant.
pub(crate) const PAUSE_WITHOUT_CONNECTION: Nanos = Nanos::from_millis(100);
pub(crate) const DURATION_OVER: &str = "the load's duration was over before it was sent";
/// Tasks that run before the thread asks the kernel for news.
pub(crate) const EVENT_INTERVAL: u32 = 16;

/// What all load threads share.
pub(crate) struct Shared {
    pub(crate) clock: MonotonicClock,
    pub(crate) schedule: Schedule,
    pub(crate) duration: Option<Nanos>,
    pub(crate) limits: Limits,
    pub(crate) requests: Arc<[PreparedRequest]>,
    pub(crate) sites: Vec<Site>,
    /// For each endpoint, one for each site.
    pub(crate) templates: Vec<Vec<Template>>,
    /// Index into `templates` for each request.
    pub(crate) endpoint_of: Vec<u32>,
    pub(crate) framing: Framing,
    pub(crate) done: Option<String>,
    pub(crate) glance: Glance,
    pub(crate) control: Arc<Control>,
    pub(crate) tls: Option<TlsConnector>,
    /// Each request opens a connection of its own.
    pub(crate) cold: bool,
    pub(crate) threads: u32,
    pub(crate) file_limit: u64,
    /// Start of every request's id.
    pub(crate) id_prefix: String,
    /// Next request of a closed loop, and over our own transports of an open loop with a cap.
    pub(crate) next: AtomicU64,
    /// Slots of an open loop with a cap, first come, first served over all threads; over hyper.
    pub(crate) slots: Option<Arc<Semaphore>>,
    pub(crate) memory: Arc<Semaphore>,
    /// The last request is sent: from here the limit on draining counts.
    pub(crate) last_send: Moment,
    /// Requests of an open loop that are neither sent nor dropped.
    pub(crate) unsent: AtomicU64,
    pub(crate) t0: OnceLock<Nanos>,
}

impl Shared {
    /// A request of an open loop was sent, or never will be.
    pub(crate) fn no_longer_unsent(&self) {
        if matches!(self.schedule, Schedule::Open { .. }) && self.unsent.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.last_send.reach();
        }
    }
}

pub(crate) struct Worker {
    id: u32,
    shared: Arc<Shared>,
    clock: Rc<WorkerClock>,
    timers: Rc<Timers>,
    stops: Rc<Stops>,
    pool: Pool,
    opener: Opener,
    figures: Rc<RefCell<ThreadFigures>>,
    out: UnboundedSender<Kept>,
    t0: Cell<Nanos>,
    panicked: Cell<bool>,
}

impl Worker {
    /// Inside the thread's runtime.
    pub(crate) fn new(id: u32, shared: Arc<Shared>, out: UnboundedSender<Kept>) -> io::Result<Rc<Worker>> {
        let clock = Rc::new(WorkerClock::new(shared.clock));
        let figures = Rc::new(RefCell::new(ThreadFigures::new()));
        let opener = Opener {
            clock: clock.clone(),
            figures: figures.clone(),
            tls: shared.tls.clone(),
            timeout: shared.limits.connect_timeout,
            cold: shared.cold,
        };
        Ok(Rc::new(Worker {
            id,
            timers: Rc::new(Timers::new(clock.clone())?),
            stops: Rc::default(),
            pool: Pool::new(shared.sites.len()),
            opener,
            figures,
            out,
            t0: Cell::new(Nanos::ZERO),
            panicked: Cell::new(false),
            clock,
            shared,
        }))
    }

    /// Numbers below `count` that are this thread's.
    fn own(&self, count: u64) -> impl Iterator<Item = u64> + use<> {
        (u64::from(self.id)..count).step_by(self.shared.threads as usize)
    }

    /// Opens the connections that the load starts with, as far as the limit on open files allows.
    /// A server that refuses one is not asked for more: its requests will say so.
    pub(crate) async fn open_ahead(self: &Rc<Self>) {
        if self.shared.cold {
            return;
        }
        let spare = self.shared.file_limit.saturating_sub(128);
        let numbers: Vec<u64> = self.own(self.shared.schedule.at_once().min(spare)).collect();
        let next = Rc::new(Cell::new(0));
        let mut openers = JoinSet::new();
        for _ in 0..OPENERS.min(numbers.len()) {
            let (worker, next, numbers) = (self.clone(), next.clone(), numbers.clone());
            openers.spawn_local(async move {
                while let Some(&number) = numbers.get(next.get()).filter(|_| worker.shared.control.told() == Told::Run)
                {
                    next.set(next.get() + 1);
                    let site = (number % worker.shared.sites.len() as u64) as usize;
                    match worker.opener.open(&worker.shared.sites[site]).await {
                        Ok(connection) => worker.pool.put(site, connection),
                        Err(_) => next.set(numbers.len()),
                    }
                }
            });
        }
        while openers.join_next().await.is_some() {}
    }

    /// Runs this thread's part of the load from `t0` on.
    pub(crate) async fn run(self: &Rc<Self>, t0: Nanos) -> ThreadFigures {
        self.t0.set(t0);
        let timers = self.timers.clone();
        tokio::task::spawn_local(async move { timers.drive().await });
        let worker = self.clone();
        tokio::task::spawn_local(async move { worker.obey().await });
        let worker = self.clone();
        tokio::task::spawn_local(async move { worker.end_in_time().await });
        match &self.shared.schedule {
            Schedule::Open { .. } => self.open_loop().await,
            Schedule::Closed { .. } => self.closed_loop().await,
        }
        let mut figures = self.figures.borrow().clone();
        figures.clock_steps = self.clock.steps();
        figures.failed = self.panicked.get();
        figures
    }

    /// Does what the control is told.
    async fn obey(&self) {
        let mut told = Told::Run;
        while told < Told::Cut {
            told = self.shared.control.told_more_than(told).await;
            match told {
                Told::Cut => self.stops.cut_all(Cut::User),
                _ => self.stops.close("the load was told to drain before it was sent"),
            }
            self.shared.last_send.reach();
        }
    }

    /// Ends sending after the duration, and waiting after the drain timeout.
    async fn end_in_time(self: Rc<Self>) {
        if let Some(duration) = self.shared.duration {
            let worker = self.clone();
            tokio::task::spawn_local(async move {
                worker.timers.until(worker.t0.get() + duration).await;
                worker.stops.close(DURATION_OVER);
                worker.shared.last_send.reach();
            });
        }
        if let Some(limit) = self.shared.limits.drain_timeout {
            self.shared.last_send.wait().await;
            self.timers.until(self.clock.now() + limit).await;
            self.stops.cut_all(Cut::DrainTimeout);
        }
    }

    async fn open_loop(self: &Rc<Self>) {
        let Schedule::Open { due, .. } = &self.shared.schedule else { return };
        let mut tasks = JoinSet::new();
        let listening = self.stops.listen().await;
        for request in self.own(due.len() as u64) {
            let scheduled = self.t0.get() + due[request as usize];
            if let Err(why) = self.stops.unless_closed(self.timers.until(scheduled)).await {
                // What was due by now was never sent: a row. What was not due is none.
                if scheduled > self.clock.now() {
                    break;
                }
                self.drop_request(request, scheduled, None, why).await;
                continue;
            }
            let unsent = Unsent { shared: self.shared.clone(), urgent: Some(self.timers.urgent()) };
            let worker = self.clone();
            tasks.spawn_local(async move { worker.open_request(request, scheduled, unsent).await });
            while let Some(ended) = tasks.try_join_next() {
                self.note_panic(&ended);
            }
        }
        drop(listening);
        while let Some(ended) = tasks.join_next().await {
            self.note_panic(&ended);
        }
    }

    /// Why nothing may be sent any more. Looks at the clock itself: the task that ends sending may be late.
    fn sending_is_over(&self) -> Option<&'static str> {
        let over = self.shared.duration.is_some_and(|d| self.clock.now() >= self.t0.get() + d);
        self.stops.closed().or(over.then_some(DURATION_OVER))
    }

    fn note_panic(&self, ended: &Result<(), tokio::task::JoinError>) {
        if ended.is_err() {
            self.panicked.set(true);
        }
    }

    /// One request of an open loop: waits for a slot where there is a cap.
    async fn open_request(self: Rc<Self>, request: u64, scheduled: Nanos, mut unsent: Unsent) {
        let _listening = self.stops.listen().await;
        let mut admitted = scheduled;
        let mut _slot = None;
        if let Some(slots) = self.shared.slots.clone() {
            match slots.clone().try_acquire_owned() {
                Ok(slot) => _slot = Some(slot),
                Err(_) => {
                    unsent.urgent = None;
                    match self.stops.unless_closed(slots.acquire_owned()).await {
                        Ok(slot) => _slot = slot.ok(),
                        Err(why) => return self.drop_request(request, scheduled, None, why).await,
                    }
                    unsent.urgent = Some(self.timers.urgent());
                    admitted = self.clock.now();
                }
            }
        }
        if let Some(why) = self.stops.closed() {
            return self.drop_request(request, scheduled, Some(admitted), why).await;
        }
        self.attempts(request, scheduled, admitted, unsent).await;
    }

    async fn drop_request(&self, request: u64, scheduled: Nanos, admitted: Option<Nanos>, why: &'static str) {
        let answer = Answer::unsent(Ending::Dropped(why), self.clock.now());
        self.emit(self.attempt(request, 0, scheduled, admitted, None, answer)).await;
    }

    async fn closed_loop(self: &Rc<Self>) {
        let Schedule::Closed { slots, .. } = self.shared.schedule else { return };
        let mut tasks = JoinSet::new();
        for _ in self.own(u64::from(slots)) {
            let worker = self.clone();
            tasks.spawn_local(async move { worker.slot().await });
        }
        while let Some(ended) = tasks.join_next().await {
            self.note_panic(&ended);
        }
    }

    /// One slot of a closed loop.
    async fn slot(self: Rc<Self>) {
        let Schedule::Closed { think, requests, .. } = self.shared.schedule else { return };
        let _listening = self.stops.listen().await;
        let mut scheduled = self.t0.get();
        loop {
            let waited = self.stops.unless_closed(self.timers.until(scheduled)).await;
            let over = self.shared.duration.is_some_and(|d| scheduled >= self.t0.get() + d);
            if waited.is_err() || over {
                break;
            }
            let request = self.shared.next.fetch_add(1, Ordering::Relaxed);
            if requests.is_some_and(|n| request >= n) {
                break;
            }
            if requests == Some(request + 1) {
                self.shared.last_send.reach();
            }
            let unsent = Unsent { shared: self.shared.clone(), urgent: None };
            let Some(ended) = self.attempts(request, scheduled, scheduled, unsent).await else { break };
            scheduled = ended + think;
        }
    }

    /// Sends a request, once more on a fresh connection where a reused one was stale. When the next
    /// request of its slot may start; `None` where it was not sent.
    async fn attempts(
        self: &Rc<Self>,
        request: u64,
        scheduled: Nanos,
        admitted: Nanos,
        unsent: Unsent,
    ) -> Option<Nanos> {
        let site = (request % self.shared.sites.len() as u64) as usize;
        let closed_loop = self.shared.slots.is_none() && matches!(self.shared.schedule, Schedule::Closed { .. });
        let mut unsent = Some(unsent);
        let mut fresh = self.shared.cold;
        let mut attempt = 0;
        loop {
            let idle = if fresh { None } else { self.pool.take(site).await };
            let reused = idle.as_ref().is_some_and(|c| c.served > 0);
            let was_there = idle.is_some();
            let mut connection = match self.connection(idle, site, &mut unsent).await {
                Ok(connection) => connection,
                Err(ending) => {
                    let now = self.clock.now();
                    let failed =
                        self.attempt(request, attempt, scheduled, Some(admitted), None, Answer::unsent(ending, now));
                    self.emit(failed).await;
                    return Some(now + PAUSE_WITHOUT_CONNECTION);
                }
            };
            let opening = std::mem::take(&mut connection.opening);
            let opening = if was_there { Opening::default() } else { opening };
            if attempt == 0
                && let Some(why) = self.sending_is_over()
            {
                self.pool.put(site, connection);
                if !closed_loop {
                    self.drop_request(request, scheduled, Some(admitted), why).await;
                }
                return None;
            }
            match self.exchange(request, attempt, &mut connection, &mut unsent).await {
                // Nothing was written: not an attempt. A fresh connection that closes at once is one.
                Exchanged::Unsent(_) if !fresh && reused => fresh = true,
                Exchanged::Unsent(why) => {
                    let answer = Answer::unsent(Ending::Reset(why), self.clock.now());
                    return Some(
                        self.finish(self.attempt(
                            request,
                            attempt,
                            scheduled,
                            Some(admitted),
                            Some((reused, opening)),
                            answer,
                        ))
                        .await,
                    );
                }
                Exchanged::Answered(answer) => {
                    let stale = matches!(answer.ending, Ending::Stale(_));
                    let clean = answer.ending == Ending::Clean;
                    if attempt == 0
                        && let Some(sent) = answer.sent
                    {
                        self.figures.borrow_mut().lateness.add(sent.saturating_sub(scheduled));
                    }
                    let row =
                        self.attempt(request, attempt, scheduled, Some(admitted), Some((reused, opening)), answer);
                    if clean && !self.shared.cold && connection.settle(self.clock.now()).await {
                        self.pool.put(site, connection);
                    }
                    let ended = self.finish(row).await;
                    if !stale {
                        return Some(ended);
                    }
                    (fresh, attempt) = (true, attempt + 1);
                }
            }
        }
    }

    async fn finish(&self, row: Attempt) -> Nanos {
        let ended = row.answer.end;
        self.emit(row).await;
        ended
    }

    /// The idle connection, or a new one.
    async fn connection(
        &self,
        idle: Option<Connection>,
        site: usize,
        unsent: &mut Option<Unsent>,
    ) -> Result<Connection, Ending> {
        if let Some(idle) = idle {
            return Ok(idle);
        }
        // While a connection is opened, reads need not wait.
        let urgent = unsent.as_mut().and_then(|u| u.urgent.take()).is_some();
        let opened = self.stops.unless_cut(self.opener.open(&self.shared.sites[site])).await;
        if urgent && let Some(unsent) = unsent {
            unsent.urgent = Some(self.timers.urgent());
        }
        match opened {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(e)) => Err(Ending::NoConnection(e.to_string())),
            Err(Cut::User) => Err(Ending::Cancelled),
            Err(Cut::DrainTimeout) => Err(Ending::TimedOut("no connection within the drain timeout".to_owned())),
        }
    }

    async fn exchange(
        &self,
        request: u64,
        attempt: u32,
        connection: &mut Connection,
        unsent: &mut Option<Unsent>,
    ) -> Exchanged {
        let shared = &self.shared;
        let at = (request % shared.requests.len() as u64) as usize;
        let site = (request % shared.sites.len() as u64) as usize;
        let template = &shared.templates[shared.endpoint_of[at] as usize][site];
        let id = format!("{}-{request}-{attempt}", shared.id_prefix);
        let http = template.request(shared.requests[at].body.clone(), Some(&id), &connection.wire);
        let scope = Scope {
            clock: &self.clock,
            limits: &shared.limits,
            stops: &self.stops,
            timers: &self.timers,
            glance: &shared.glance,
            control: &shared.control,
            framing: shared.framing,
            done: shared.done.as_deref(),
        };
        let urgent = unsent.take().and_then(|mut u| u.urgent.take());
        shared.control.started();
        let exchanged = connection.exchange(http, urgent, &scope).await;
        shared.control.ended();
        exchanged
    }

    fn attempt(
        &self,
        request: u64,
        attempt: u32,
        scheduled: Nanos,
        admitted: Option<Nanos>,
        connection: Option<(bool, Opening)>,
        answer: Answer,
    ) -> Attempt {
        let replica = (request % self.shared.sites.len() as u64) as u32;
        let (connection_reused, opening) = connection.unzip();
        let opening = opening.unwrap_or_default();
        Attempt { request, attempt, replica, worker: self.id, scheduled, admitted, connection_reused, opening, answer }
    }

    /// Hands an attempt to the decoder; waits where too much is kept already.
    async fn emit(&self, attempt: Attempt) {
        let kib = attempt.answer.frames.weight().div_ceil(1024).min(KEPT_KIB);
        let memory = self.shared.memory.clone().acquire_many_owned(kib as u32).await.ok();
        // The decoder outlives the load threads; were it gone, the load would end with an error.
        let _ = self.out.send(Kept { attempt, _memory: memory });
    }
}

/// A request that is due and not sent: counted, and ahead of reads while it is urgent.
struct Unsent {
    shared: Arc<Shared>,
    urgent: Option<Urgent>,
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.shared.no_longer_unsent();
    }
}
