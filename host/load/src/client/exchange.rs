//! One request and its answer over one connection.
//!
//! The connection and the body are driven by the same task, body first: hyper reads from the socket only
//! when it is driven, and hands on a body frame before it reads again. So a frame that the body yields
//! came out of the most recent read, and that read's stamp is its time, below TLS and compression too.

use super::connect::{Connection, drive};
use super::due::{Due, Stage, due};
use super::intake::Intake;
use super::request::Payload;
use super::stops::{Cut, Stops};
use super::tap::Wire;
use crate::clockmap::WorkerClock;
use crate::control::Control;
use crate::decode::outcome::Ending;
use crate::decode::record::Answer;
use crate::stream::{FrameLimits, Frames, Glance};
use crate::timer::{Timers, Urgent};
use crate::worker::IDLE;
use bench_core::clock::Nanos;
use bench_core::decode::Framing;
use bench_core::load::Limits;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

/// What exchanges of a load thread share.
pub(crate) struct Scope<'a> {
    pub(crate) clock: &'a WorkerClock,
    pub(crate) limits: &'a Limits,
    pub(crate) stops: &'a Stops,
    pub(crate) timers: &'a Timers,
    pub(crate) glance: &'a Glance,
    pub(crate) control: &'a Control,
    pub(crate) framing: Framing,
    pub(crate) done: Option<&'a str>,
}

/// How an exchange went.
pub(crate) enum Exchanged {
    /// The connection turned out to be closed before a byte was written.
    Unsent(String),
    /// The request was written.
    Answered(Answer),
}

impl Connection {
    /// Sends a request and takes its answer. The task has to listen to the scope's stops.
    pub(crate) async fn exchange(
        &mut self,
        request: Request<Payload>,
        mut urgent: Option<Urgent>,
        scope: &Scope<'_>,
    ) -> Exchanged {
        let started = scope.clock.now();
        let was_idle = self.served > 0 || started.saturating_sub(self.idle_since) > IDLE;
        self.wire.begin();
        self.served += 1;
        let mut watch = Watch::new(scope, started);
        let mut response = pin!(self.sender.send_request(request));
        let wire = self.wire.clone();
        let head = poll_fn(|cx| {
            if urgent.is_none() && scope.timers.poll_after_sends(cx).is_pending() {
                return Poll::Pending;
            }
            let failed = drive(&mut self.driver, &mut self.over, cx);
            if wire.sent().is_some() {
                urgent = None;
            }
            if let Poll::Ready(result) = response.as_mut().poll(cx) {
                return Poll::Ready(result.map_err(|e| broken(&e)));
            }
            if self.over {
                let gone = Ending::Reset("the server closed the connection".to_owned());
                return Poll::Ready(Err(failed.map_or(gone, |e| broken(&e))));
            }
            watch.poll(cx, &wire, None).map(Err)
        })
        .await;
        drop(urgent);
        match head {
            Ok(response) => self.take_body(response, watch, scope).await,
            Err(ending) => {
                let no_byte = wire.received() == 0 && matches!(ending, Ending::Reset(_));
                match ending {
                    Ending::Reset(why) if no_byte && wire.written() == 0 => Exchanged::Unsent(why),
                    Ending::Reset(why) if no_byte && was_idle => {
                        Exchanged::Answered(answer(&wire, Ending::Stale(why), scope.clock.now()))
                    }
                    ending => Exchanged::Answered(answer(&wire, ending, scope.clock.now())),
                }
            }
        }
    }

    async fn take_body(&mut self, response: Response<Incoming>, mut watch: Watch<'_>, scope: &Scope<'_>) -> Exchanged {
        let (head, mut body) = response.into_parts();
        let mut intake = Intake::new(head.status, &head.headers, scope.framing, FrameLimits::of(scope.limits));
        let wire = self.wire.clone();
        let mut ending = poll_fn(|cx| {
            if scope.timers.poll_after_sends(cx).is_pending() {
                return Poll::Pending;
            }
            let mut driven = false;
            loop {
                let mut got = false;
                while let Poll::Ready(frame) = Pin::new(&mut body).poll_frame(cx) {
                    got = true;
                    match frame {
                        None => return Poll::Ready(Ending::Clean),
                        Some(Err(e)) => return Poll::Ready(broken(&e)),
                        Some(Ok(frame)) => {
                            let (Some(data), Some(mark)) = (frame.data_ref(), wire.last()) else { continue };
                            match intake.push(data, mark, scope.glance) {
                                Ok(events) => scope.control.add_events(events),
                                Err(e) => return Poll::Ready(Ending::Invalid(e.to_string())),
                            }
                        }
                    }
                }
                if driven && !got {
                    return watch.poll(cx, &wire, Some(&intake));
                }
                if self.over {
                    return Poll::Ready(Ending::Reset("the connection closed before the answer's end".to_owned()));
                }
                drive(&mut self.driver, &mut self.over, cx);
                driven = true;
            }
        })
        .await;
        let clean = ending == Ending::Clean;
        if let Err(e) = intake.finish(clean, scope.done)
            && clean
        {
            ending = Ending::Invalid(e.to_string());
        }
        let end = match (clean, wire.last()) {
            (true, Some(mark)) => mark.stamp,
            _ => scope.clock.now(),
        };
        let mut answer = answer(&wire, ending, end);
        answer.status = Some(head.status.as_u16());
        answer.streamed = intake.streamed;
        answer.frames = std::mem::take(&mut intake.frames);
        Exchanged::Answered(answer)
    }

    /// After a clean answer: whether the connection can take another request.
    pub(crate) async fn settle(&mut self, now: Nanos) -> bool {
        self.idle_since = now;
        poll_fn(|cx| {
            self.drive(cx);
            let ready = !self.over && matches!(self.sender.poll_ready(cx), Poll::Ready(Ok(())));
            Poll::Ready(ready)
        })
        .await
    }
}

fn answer(wire: &Wire, ending: Ending, end: Nanos) -> Answer {
    Answer {
        ending,
        sent: wire.sent(),
        first_byte: wire.first_byte(),
        end,
        status: None,
        streamed: false,
        frames: Frames::default(),
        bytes_sent: wire.written(),
        bytes_received: wire.received(),
    }
}

/// A broken connection, or bytes that can't be read.
fn broken(error: &hyper::Error) -> Ending {
    let mut text = error.to_string();
    let mut invalid = error.is_parse();
    let mut source = error.source();
    while let Some(e) = source {
        if let Some(e) = e.downcast_ref::<io::Error>() {
            invalid |= matches!(e.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput);
        }
        if let Some(e) = e.downcast_ref::<hyper::Error>() {
            invalid |= e.is_parse();
        }
        let more = e.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = e.source();
    }
    if invalid && !error.is_incomplete_message() {
        Ending::Invalid(format!("the answer's framing can't be read: {text}"))
    } else {
        Ending::Reset(text)
    }
}

/// Ends an exchange at the limits' times, and when everything is cut.
struct Watch<'a> {
    clock: &'a WorkerClock,
    limits: &'a Limits,
    stops: &'a Stops,
    started: Nanos,
    alarm: Pin<Box<tokio::time::Sleep>>,
    set: bool,
}

impl<'a> Watch<'a> {
    fn new(scope: &Scope<'a>, started: Nanos) -> Watch<'a> {
        let limits = scope.limits;
        let first = [Some(limits.request_timeout), limits.first_token_timeout, limits.inter_token_timeout];
        let first = first.into_iter().flatten().min().unwrap_or(limits.request_timeout);
        Watch {
            clock: scope.clock,
            limits,
            stops: scope.stops,
            started,
            alarm: Box::pin(tokio::time::sleep(first.to_duration())),
            set: false,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>, wire: &Wire, intake: Option<&Intake>) -> Poll<Ending> {
        match self.stops.cut() {
            Some(Cut::User) => return Poll::Ready(Ending::Cancelled),
            Some(Cut::DrainTimeout) => {
                return Poll::Ready(Ending::TimedOut("the answer took longer than the drain timeout".to_owned()));
            }
            None => {}
        }
        // The alarm is looked at when it rings. It can ring too early, never too late: it is set to the
        // earliest time that any limit could have had.
        if self.set && !self.alarm.is_elapsed() {
            return Poll::Pending;
        }
        self.set = true;
        while self.alarm.as_mut().poll(cx).is_ready() {
            let now = self.clock.now();
            let stage = Stage {
                from: wire.sent().unwrap_or(self.started),
                has_content: intake.is_some_and(|i| i.has_content),
                last_event: intake.and_then(|i| i.last_event),
            };
            let wait = match due(self.limits, stage, now) {
                Due::Over(what) => return Poll::Ready(Ending::TimedOut(what)),
                Due::Again(at) => (at - now).to_duration(),
            };
            let far = Duration::from_secs(86_400);
            self.alarm.as_mut().reset(tokio::time::Instant::now() + wait.min(far));
        }
        Poll::Pending
    }
}
