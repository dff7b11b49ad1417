//! The body of an answer: whole, or a stream of events as the engine releases them.

use crate::clock::realtime;
use crate::config::{KeepAlive, RoleChunk, SimConfig};
use crate::fault::{Fault, FaultKind};
use crate::render::{Chunk, Renderer};
use crate::request::ApiError;
use crate::state::Ticket;
use crate::wire::Control;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::{Body, Frame, SizeHint};
use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Body of any answer.
pub(crate) enum Answer {
    /// Known from the start; `None` once it is out.
    Whole(Option<Bytes>),
    /// Events.
    Stream(Box<EventStream>),
}

impl Body for Answer {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut *self {
            Answer::Whole(bytes) => Poll::Ready(bytes.take().map(|b| Ok(Frame::data(b)))),
            Answer::Stream(stream) => stream.poll(cx).map(|event| event.map(|bytes| Ok(Frame::data(bytes?)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Answer::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Answer::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64)),
            Answer::Stream(_) => SizeHint::default(),
        }
    }
}

/// How far a stream is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fresh,
    Streaming,
    /// Nothing will come any more, and no end either.
    Stalled,
    /// All events are made.
    Ended,
}

/// What a stream is made from.
pub(crate) struct Parts {
    pub(crate) ticket: Ticket,
    pub(crate) renderer: Renderer,
    pub(crate) control: Rc<Control>,
    pub(crate) finish: String,
    pub(crate) role: RoleChunk,
    pub(crate) fault: Option<Fault>,
    pub(crate) gzip: bool,
}

/// A stream of events.
pub(crate) struct EventStream {
    parts: Parts,
    tokens_per_chunk: u32,
    stamp: bool,
    keep_alive: KeepAlive,
    phase: Phase,
    sent: u32,
    /// Events that are made and not yet out.
    ready: VecDeque<Bytes>,
    gzip: Option<GzEncoder<Vec<u8>>>,
}

impl EventStream {
    pub(crate) fn new(parts: Parts, config: &SimConfig) -> EventStream {
        EventStream {
            tokens_per_chunk: config.tokens_per_chunk,
            stamp: config.stamp,
            keep_alive: config.keep_alive,
            phase: Phase::Fresh,
            sent: 0,
            ready: VecDeque::new(),
            gzip: parts.gzip.then(|| GzEncoder::new(Vec::new(), Compression::fast())),
            parts,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.ready.is_empty() {
            self.produce(cx);
        }
        match (self.ready.pop_front(), self.phase) {
            (Some(event), _) => Poll::Ready(Some(self.encode(&event))),
            (None, Phase::Ended) => self.end(),
            (None, _) => Poll::Pending,
        }
    }

    /// Makes the events that are due.
    fn produce(&mut self, cx: &Context<'_>) {
        if self.phase == Phase::Fresh {
            self.phase = Phase::Streaming;
            if self.parts.role == RoleChunk::Early {
                self.push_role();
            }
        }
        let released = self.parts.ticket.progress.released(cx);
        while self.phase == Phase::Streaming && self.sent < released {
            if self.sent == 0 && self.parts.role == RoleChunk::WithFirst {
                self.push_role();
                self.parts.role = RoleChunk::None;
            }
            match self.parts.fault.take_if(|f| f.kind.is_midway() && self.sent >= strike_at(f, &self.parts.renderer)) {
                Some(fault) => self.strike(fault.kind),
                None => self.push_tokens(released),
            }
        }
    }

    fn push_role(&mut self) {
        let event = self.parts.renderer.role(self.stamp.then(realtime));
        self.ready.push_back(event);
    }

    /// One event: what one step released, less where a fault or the end of the reasoning cuts it.
    fn push_tokens(&mut self, released: u32) {
        let renderer = &self.parts.renderer;
        // Steps release full events except the last, so what is out tells where the next event ends.
        let step_end = (self.sent / self.tokens_per_chunk + 1) * self.tokens_per_chunk;
        let mut to = step_end.min(released);
        to = self.sent + renderer.cut(self.sent, to - self.sent);
        if let Some(fault) = self.parts.fault.as_ref().filter(|f| f.kind.is_midway()) {
            to = to.min(strike_at(fault, renderer));
        }
        let last = to == renderer.total();
        let finish = last.then_some(self.parts.finish.as_str());
        let chunk = Chunk { tokens: Some((self.sent, to)), finish, stamp: self.stamp.then(realtime) };
        self.ready.push_back(renderer.chunk(chunk, to));
        self.sent = to;
        if last {
            self.finish();
        }
    }

    /// What follows the finish reason.
    fn finish(&mut self) {
        self.ready.extend(self.parts.renderer.final_usage(self.stamp.then(realtime), self.sent));
        self.ready.push_back(Bytes::from_static(b"data: [DONE]\n\n"));
        self.phase = Phase::Ended;
    }

    fn strike(&mut self, kind: FaultKind) {
        match kind {
            FaultKind::ErrorInStream => {
                self.ready.push_back(Bytes::from(format!("data: {}\n\n", scripted_error().body())));
                self.ready.push_back(Bytes::from_static(b"data: [DONE]\n\n"));
                self.phase = Phase::Ended;
            }
            FaultKind::Abort => {
                let chunk = Chunk { tokens: None, finish: Some("abort"), stamp: self.stamp.then(realtime) };
                self.ready.push_back(self.parts.renderer.chunk(chunk, self.sent));
                self.finish();
            }
            FaultKind::Reset => {
                self.parts.control.reset();
                self.phase = Phase::Stalled;
            }
            FaultKind::Stall => self.phase = Phase::Stalled,
            FaultKind::EndWithoutFinish => self.phase = Phase::Ended,
            FaultKind::Garbage => self.ready.push_back(self.parts.renderer.garbage()),
            FaultKind::Refuse | FaultKind::Silent | FaultKind::Status | FaultKind::SlowDrip | FaultKind::Empty => {}
        }
    }

    fn encode(&mut self, event: &Bytes) -> io::Result<Bytes> {
        let Some(gzip) = &mut self.gzip else { return Ok(event.clone()) };
        gzip.write_all(event)?;
        // Each event must reach the reader when it is due.
        gzip.flush()?;
        Ok(Bytes::from(std::mem::take(gzip.get_mut())))
    }

    fn end(&mut self) -> Poll<Option<io::Result<Bytes>>> {
        if let Some(gzip) = self.gzip.take() {
            return Poll::Ready(Some(gzip.finish().map(Bytes::from)));
        }
        if self.keep_alive == KeepAlive::CloseAfterStream {
            self.parts.control.close_when_flushed();
        }
        Poll::Ready(None)
    }
}

/// Tokens that are out when a fault strikes: what it says, but always before the last.
pub(crate) fn strike_at(fault: &Fault, renderer: &Renderer) -> u32 {
    fault.after.min(renderer.total() - 1)
}

/// What a scripted fault says.
pub(crate) fn scripted_error() -> ApiError {
    ApiError::new(500, "InternalServerError", None, "scripted fault of the simulated engine".into())
}
