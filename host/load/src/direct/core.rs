//! A load thread's requests and connections: what is done when something is due, and when something came.

use super::exchange::{Broken, Exchange, Job, Scope, Taken};
use super::io::{Arrived, Token};
use super::pace::Pace;
use super::sends::{Ready, Sends};
use super::table::{Connection, State, Table};
use crate::client::due::{Due, due};
use crate::client::stops::Cut;
use crate::clockmap::WorkerClock;
use crate::decode::outcome::Ending;
use crate::decode::record::{Answer, Attempt, Opening};
use crate::decode::stage::Kept;
use crate::figures::ThreadFigures;
use crate::schedule::Schedule;
use crate::stream::Mark;
use crate::sys;
use crate::worker::{IDLE, KEPT_KIB, PAUSE_WITHOUT_CONNECTION, Shared};
use bench_core::clock::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// What the transport is asked for.
#[derive(Debug)]
pub(super) enum Ask {
    Watch,
    WatchWritable,
    Forget(OwnedFd),
}

pub(super) struct Core {
    pub(super) id: u32,
    pub(super) shared: Arc<Shared>,
    pub(super) clock: WorkerClock,
    pub(super) figures: ThreadFigures,
    pub(super) table: Table,
    pub(super) pace: Pace,
    pub(super) sends: Sends,
    pub(super) asks: VecDeque<(Token, Ask)>,
    pub(super) t0: Nanos,
    /// Nothing is sent any more, and why.
    pub(super) closed: Option<&'static str>,
    /// A connection opened in advance was refused.
    pub(super) refused: bool,
    alarms: BinaryHeap<Reverse<(Nanos, Token)>>,
    /// Requests that are neither over nor dropped.
    pub(super) in_flight: u64,
    /// Attempts that wait for memory.
    backlog: VecDeque<Attempt>,
    out: UnboundedSender<Kept>,
    /// A request's head.
    head: Vec<u8>,
    /// Events that the control was not told of yet.
    events: u64,
    reserve: usize,
}

impl Core {
    pub(super) fn new(id: u32, shared: Arc<Shared>, out: UnboundedSender<Kept>, linger: Nanos) -> Core {
        let clock = WorkerClock::new(shared.clock);
        Core {
            id,
            figures: ThreadFigures::new(),
            table: Table::new(shared.sites.len()),
            pace: Pace::new(linger, clock.now()),
            // Until the load starts nothing is due.
            sends: Sends::nothing(),
            asks: VecDeque::new(),
            t0: Nanos::ZERO,
            closed: None,
            refused: false,
            alarms: BinaryHeap::new(),
            in_flight: 0,
            backlog: VecDeque::new(),
            out,
            head: Vec::with_capacity(1024),
            events: 0,
            reserve: shared.schedule.reserve().div_ceil(shared.threads as usize),
            clock,
            shared,
        }
    }

    /// Sends what is due, a few at most: reads have to be looked after in between.
    pub(super) fn send_due(&mut self, now: Nanos) {
        const AT_ONCE: usize = 16;
        if self.closed.is_some() || !self.backlog.is_empty() {
            return;
        }
        for _ in 0..AT_ONCE {
            let Some(Ready { request, scheduled, admitted }) = self.sends.take(&self.shared, self.t0, now) else {
                return;
            };
            self.in_flight += 1;
            let admitted = Some(admitted);
            self.start(Job { request, attempt: 0, scheduled, admitted, fresh: false, unsent: true });
        }
    }

    /// When the next request may be sent.
    pub(super) fn next_send(&self) -> Option<Nanos> {
        if self.closed.is_some() || !self.backlog.is_empty() { None } else { self.sends.next(&self.shared, self.t0) }
    }

    /// When the next alarm rings.
    pub(super) fn next_alarm(&self) -> Option<Nanos> {
        self.alarms.peek().map(|Reverse((at, _))| *at)
    }

    /// Nothing is left to do.
    pub(super) fn is_over(&self) -> bool {
        self.in_flight == 0 && self.backlog.is_empty() && (self.closed.is_some() || self.sends.is_over(&self.shared))
    }

    fn start(&mut self, job: Job) {
        let site = job.site(self.shared.sites.len());
        while !job.fresh
            && let Some(token) = self.table.pop_idle(site)
        {
            if self.table.get(token).is_some_and(|c| c.served == 0 || sys::is_open(c.socket.as_fd())) {
                self.begin(token, job, Opening::default());
                if self.table.idle(site) + self.table.connecting() < self.reserve {
                    self.open(site, None, 0);
                }
                return;
            }
            self.remove(token);
        }
        self.open(site, Some(job), 0);
    }

    /// Opens a connection to a site's address of this number, or to a later one.
    pub(super) fn open(&mut self, site: usize, job: Option<Job>, mut address: usize) {
        let shared = self.shared.clone();
        let addresses = &shared.sites[site].addresses;
        let mut failed = "the server's name has no address".to_owned();
        while let Some(&to) = addresses.get(address) {
            let now = self.clock.now();
            match sys::connect(to) {
                Ok((socket, is_open)) => {
                    let state = State::Connecting { job, address, started: now };
                    let token = self.table.add(Connection { socket, site, served: 0, alarm: None, state });
                    if is_open {
                        return self.connected(token);
                    }
                    self.asks.push_back((token, Ask::WatchWritable));
                    return self.alarm(token, now + shared.limits.connect_timeout);
                }
                Err(e) => failed = format!("{to} can't be connected to: {e}"),
            }
            address += 1;
        }
        match job {
            Some(job) => self.no_connection(job, Ending::NoConnection(failed)),
            None => self.refused = true,
        }
    }

    /// Takes a connection out; what it was doing. It is closed when the transport has forgotten it: until then
    /// its number must not become another thread's.
    fn remove(&mut self, token: Token) -> Option<(usize, State)> {
        let Connection { socket, site, state, .. } = self.table.remove(token)?;
        self.asks.push_back((token, Ask::Forget(socket)));
        Some((site, state))
    }

    /// A job ends without a connection.
    fn no_connection(&mut self, mut job: Job, ending: Ending) {
        let now = self.clock.now();
        self.counted(&mut job);
        let answer = Answer::unsent(ending, now);
        self.tell(job, None, answer);
        self.over(now, now + PAUSE_WITHOUT_CONNECTION + self.shared.schedule.think());
    }

    /// A connection's opening is over, for better or worse.
    fn opened(&mut self, token: Token) {
        let Some(connection) = self.table.get(token) else { return };
        match sys::socket_error(connection.socket.as_fd()) {
            Ok(()) => self.connected(token),
            Err(e) => self.not_connected(token, &format!("can't be connected to: {e}")),
        }
    }

    fn not_connected(&mut self, token: Token, why: &str) {
        let Some((site, State::Connecting { job, address, .. })) = self.remove(token) else {
            return;
        };
        let addresses = &self.shared.sites[site].addresses;
        if address + 1 < addresses.len() {
            return self.open(site, job, address + 1);
        }
        let why = addresses.get(address).map_or_else(|| why.to_owned(), |a| format!("{a} {why}"));
        match job {
            Some(job) => self.no_connection(job, Ending::NoConnection(why)),
            None => self.refused = true,
        }
    }

    fn connected(&mut self, token: Token) {
        self.asks.push_back((token, Ask::Watch));
        let now = self.clock.now();
        let Some(State::Connecting { job: Some(job), started, .. }) =
            self.table.turn(token, State::Idle { since: now })
        else {
            return;
        };
        self.table.take_idle(token);
        self.begin(token, job, Opening { connect: Some(now - started), ..Opening::default() });
    }

    /// Sends a job's request over a connection that is idle, and was taken out of the idle ones.
    fn begin(&mut self, token: Token, mut job: Job, opening: Opening) {
        if job.attempt == 0
            && let Some(why) = self.sending_is_over()
        {
            self.table.put_idle(token);
            return self.drop_job(job, why);
        }
        self.counted(&mut job);
        let now = self.clock.now();
        let Some(connection) = self.table.get(token) else { return };
        let State::Idle { since } = connection.state else { return };
        let reused = connection.served > 0;
        connection.served += 1;
        let exchange = Exchange::new(job, (reused, opening), reused || now - since > IDLE, now);
        self.table.turn(token, State::Busy(Box::new(exchange)));
        self.shared.control.started();
        self.write(token);
        self.look_at_limits(token, now);
    }

    /// Writes what the socket takes.
    fn write(&mut self, token: Token) {
        let shared = self.shared.clone();
        let Some(Connection { socket, site, state: State::Busy(exchange), .. }) = self.table.get(token) else { return };
        if exchange.is_sent() {
            return;
        }
        let Job { request, attempt, .. } = exchange.job;
        let at = (request % shared.requests.len() as u64) as usize;
        let template = &shared.templates[shared.endpoint_of[at] as usize][*site];
        let body = &shared.requests[at].body[..];
        template.head(&mut self.head, &shared.id_prefix, (request, attempt), body.len());
        match exchange.write(socket.as_fd(), &self.head, body, || self.clock.now()) {
            Ok(true) => {}
            Ok(false) => self.asks.push_back((token, Ask::WatchWritable)),
            Err(e) => self.broken(token, Some(&e)),
        }
        self.figures.calls += 1;
    }

    /// Takes a piece of news.
    pub(super) fn news(&mut self, token: Token, arrived: Arrived<'_>) {
        let Some(connection) = self.table.get(token) else { return };
        match (&mut connection.state, arrived) {
            (State::Connecting { .. }, Arrived::Broken(e)) => {
                self.not_connected(token, &format!("can't be connected to: {e}"));
            }
            (State::Connecting { .. }, _) => self.opened(token),
            (State::Idle { .. }, Arrived::Writable) => {}
            // Closed, or bytes that nobody asked for.
            (State::Idle { .. }, _) => drop(self.remove(token)),
            (State::Busy(_), Arrived::Writable) => self.write(token),
            (State::Busy(_), Arrived::Closed) => self.broken(token, None),
            (State::Busy(_), Arrived::Broken(e)) => self.broken(token, Some(&e)),
            (State::Busy(exchange), Arrived::Bytes(bytes, stamp)) => {
                let mark = mark(&self.clock, &mut self.figures, stamp);
                self.pace.note_read();
                let scope =
                    Scope { limits: &self.shared.limits, glance: &self.shared.glance, framing: self.shared.framing };
                match exchange.take(bytes, mark, &scope) {
                    Taken::More(events) => self.events += events,
                    Taken::Over(ending, events) => {
                        self.events += events;
                        self.finish(token, ending);
                    }
                }
            }
        }
    }

    fn broken(&mut self, token: Token, why: Option<&std::io::Error>) {
        let Some(Connection { state: State::Busy(exchange), .. }) = self.table.get(token) else { return };
        match exchange.broken(why) {
            Broken::Ended(ending) => self.finish(token, ending),
            // Nothing was written: not an attempt. A fresh connection that closes at once is one.
            Broken::Unsent(_) if exchange.reused && !exchange.job.fresh => {
                let job = Job { fresh: true, ..exchange.job };
                self.shared.control.ended();
                self.remove(token);
                self.start(job);
            }
            Broken::Unsent(what) => {
                let (job, over) = (exchange.job, Some((exchange.reused, exchange.opening)));
                self.shared.control.ended();
                self.remove(token);
                let now = self.clock.now();
                let answer = Answer::unsent(Ending::Reset(what), now);
                self.tell(job, over, answer);
                self.over(now, now + self.shared.schedule.think());
            }
        }
    }

    /// An exchange is over.
    fn finish(&mut self, token: Token, ending: Ending) {
        let now = self.clock.now();
        let Some(State::Busy(exchange)) = self.table.turn(token, State::Idle { since: now }) else { return };
        self.shared.control.ended();
        let (job, over) = (exchange.job, Some((exchange.reused, exchange.opening)));
        let (answer, keeps_alive) = exchange.finish(ending, now, self.shared.done.as_deref());
        if !keeps_alive {
            self.remove(token);
        }
        if job.attempt == 0
            && let Some(sent) = answer.sent
        {
            self.figures.lateness.add(sent.saturating_sub(job.scheduled));
        }
        let stale = matches!(answer.ending, Ending::Stale(_));
        let end = answer.end;
        self.tell(job, over, answer);
        if stale {
            self.start(Job { fresh: true, attempt: job.attempt + 1, ..job });
        } else {
            self.over(now, end + self.shared.schedule.think());
        }
    }

    /// A request is over; its slot may send again from `from` on.
    fn over(&mut self, now: Nanos, from: Nanos) {
        self.in_flight -= 1;
        self.sends.free(&self.shared, self.t0, now, from);
    }

    /// A job is not to be sent. In a closed loop there is no row for what was not due.
    fn drop_job(&mut self, mut job: Job, why: &'static str) {
        self.counted(&mut job);
        if matches!(self.shared.schedule, Schedule::Open { .. }) {
            let answer = Answer::unsent(Ending::Dropped(why), self.clock.now());
            self.tell(job, None, answer);
        }
        self.in_flight -= 1;
    }

    /// A request of an open loop is no longer one that is still to be sent.
    fn counted(&self, job: &mut Job) {
        if std::mem::take(&mut job.unsent) {
            self.shared.no_longer_unsent();
        }
    }

    /// Why nothing may be sent any more. Looks at the clock itself: the thread may not have come round.
    fn sending_is_over(&self) -> Option<&'static str> {
        let over = self.shared.duration.is_some_and(|d| self.clock.now() >= self.t0 + d);
        self.closed.or(over.then_some(crate::worker::DURATION_OVER))
    }

    /// Nothing more is sent. What was due by now becomes rows.
    pub(super) fn close(&mut self, why: &'static str) {
        if self.closed.is_some() {
            return;
        }
        let now = self.clock.now();
        self.closed = Some(why);
        for Ready { request, scheduled, .. } in self.sends.drop_due(&self.shared, self.t0, now) {
            self.in_flight += 1;
            let job = Job { request, attempt: 0, scheduled, admitted: None, fresh: false, unsent: true };
            self.drop_job(job, why);
        }
        self.shared.last_send.reach();
    }

    /// Everything in flight ends.
    pub(super) fn cut(&mut self, cut: Cut) {
        self.end_all("the load was cut before it was sent", |what| match cut {
            Cut::User => Ending::Cancelled,
            Cut::DrainTimeout => Ending::TimedOut(what.to_owned()),
        });
    }

    /// The transport failed: nothing in flight can end.
    pub(super) fn fail(&mut self, error: &std::io::Error) {
        self.end_all("the transport failed before it was sent", |_| {
            Ending::Reset(format!("the transport failed: {error}"))
        });
        self.figures.failed = true;
    }

    fn end_all(&mut self, unsent: &'static str, ending: impl Fn(&str) -> Ending) {
        self.close(unsent);
        for token in self.table.tokens() {
            match self.table.get(token).map(|c| &c.state) {
                Some(State::Busy(_)) => self.finish(token, ending("the answer took longer than the drain timeout")),
                Some(State::Connecting { job, .. }) => {
                    let job = *job;
                    self.remove(token);
                    if let Some(job) = job {
                        self.no_connection(job, ending("no connection within the drain timeout"));
                    }
                }
                _ => {}
            }
        }
    }

    /// Has a connection looked at again at this time.
    fn alarm(&mut self, token: Token, at: Nanos) {
        let Some(connection) = self.table.get(token) else { return };
        if connection.alarm.is_none_or(|set| at < set) {
            connection.alarm = Some(at);
            self.alarms.push(Reverse((at, token)));
        }
        // Alarms of connections that are gone lie there until they ring, which may be in hours.
        if self.alarms.len() > 1024 + 4 * self.table.size() {
            let (alarms, table) = (&mut self.alarms, &mut self.table);
            alarms.retain(|Reverse((at, token))| table.get(*token).is_some_and(|c| c.alarm == Some(*at)));
        }
    }

    /// Looks at what should be over by now.
    pub(super) fn ring(&mut self, now: Nanos) {
        while let Some(&Reverse((at, token))) = self.alarms.peek()
            && at <= now
        {
            self.alarms.pop();
            let Some(connection) = self.table.get(token).filter(|c| c.alarm == Some(at)) else { continue };
            connection.alarm = None;
            match &connection.state {
                State::Idle { .. } => {}
                State::Busy(_) => self.look_at_limits(token, now),
                State::Connecting { started, .. } => {
                    let limit = self.shared.limits.connect_timeout;
                    if now >= *started + limit {
                        self.not_connected(token, &format!("did not take the connection within {limit}"));
                    } else {
                        let at = *started + limit;
                        self.alarm(token, at);
                    }
                }
            }
        }
    }

    fn look_at_limits(&mut self, token: Token, now: Nanos) {
        let Some(Connection { state: State::Busy(exchange), .. }) = self.table.get(token) else { return };
        match due(&self.shared.limits, exchange.stage(), now) {
            Due::Over(what) => self.finish(token, Ending::TimedOut(what)),
            Due::Again(at) => self.alarm(token, at),
        }
    }

    /// Hands what came of a job to the decoder, or keeps it while too much is kept there. `connection`: whether it
    /// was used before, and how long it took to open.
    fn tell(&mut self, job: Job, connection: Option<(bool, Opening)>, answer: Answer) {
        self.backlog.push_back(job.attempt(self.id, self.shared.sites.len(), connection, answer));
        self.hand_over();
    }

    /// Hands over what waits, as far as there is room; tells the control of events.
    pub(super) fn hand_over(&mut self) {
        if self.events > 0 {
            self.shared.control.add_events(std::mem::take(&mut self.events));
        }
        while let Some(first) = self.backlog.front() {
            let kib = first.answer.frames.weight().div_ceil(1024).min(KEPT_KIB);
            let Ok(memory) = self.shared.memory.clone().try_acquire_many_owned(kib as u32) else { return };
            if let Some(attempt) = self.backlog.pop_front() {
                // The decoder outlives the load threads; were it gone, the load would end with an error.
                let _ = self.out.send(Kept { attempt, _memory: Some(memory) });
            }
        }
    }

    /// Attempts wait for memory.
    pub(super) fn is_held_up(&self) -> bool {
        !self.backlog.is_empty()
    }
}

/// When a read's bytes came.
fn mark(clock: &WorkerClock, figures: &mut ThreadFigures, stamp: Option<u64>) -> Mark {
    let read = clock.now();
    let placed = stamp.and_then(|s| clock.place(s, read));
    figures.read(placed, read);
    Mark { stamp: placed.unwrap_or(read), read, number: 0, kernel: placed.is_some() }
}
