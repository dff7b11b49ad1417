//! One way of framing for each kind of body.

use super::frames::{Frames, Mark};
use super::jsonlines::JsonLines;
use super::sse::EventStream;
use bench_core::decode::Framing;
use bench_core::load::Limits;

/// What bounds an answer.
#[derive(Clone, Copy, Debug)]
pub struct FrameLimits {
    /// Greatest frame, bytes.
    pub max_event_bytes: u64,
    /// Greatest answer, bytes after decompression.
    pub max_response_bytes: u64,
}

impl FrameLimits {
    /// Those of a scenario.
    pub(crate) fn of(limits: &Limits) -> FrameLimits {
        FrameLimits { max_event_bytes: limits.max_event_bytes, max_response_bytes: limits.max_response_bytes }
    }
}

/// A body that can't be framed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FramingError {
    /// A frame is too large.
    #[error("an event is greater than {0} bytes; raise `max-event` under `[scenario.limits]`")]
    EventTooLarge(u64),
    /// The answer is too large.
    #[error("the answer is greater than {0} bytes; raise `max-response` under `[scenario.limits]`")]
    ResponseTooLarge(u64),
    /// Compressed bytes are broken.
    #[error("the compressed body can't be read: {0}")]
    Compression(String),
}

/// Cuts a body into frames, incrementally.
#[derive(Debug)]
pub struct Framer {
    kind: Kind,
    limits: FrameLimits,
    taken: u64,
    last: Option<Mark>,
}

#[derive(Debug)]
enum Kind {
    Events(EventStream),
    Lines(JsonLines),
    Whole(Vec<u8>),
}

impl Framer {
    /// For a body of this framing.
    pub fn new(framing: Framing, limits: FrameLimits) -> Framer {
        let kind = match framing {
            Framing::ServerSentEvents => Kind::Events(EventStream::default()),
            Framing::JsonLines => Kind::Lines(JsonLines::default()),
            Framing::Whole => Kind::Whole(Vec::new()),
        };
        Framer { kind, limits, taken: 0, last: None }
    }

    /// Takes the body's next bytes, which came at `mark`.
    ///
    /// # Errors
    /// A frame or the answer is greater than its limit.
    pub fn push(&mut self, bytes: &[u8], mark: Mark, into: &mut Frames) -> Result<(), FramingError> {
        self.taken += bytes.len() as u64;
        if self.taken > self.limits.max_response_bytes {
            return Err(FramingError::ResponseTooLarge(self.limits.max_response_bytes));
        }
        self.last = Some(mark);
        let open = match &mut self.kind {
            Kind::Events(events) => events.push(bytes, mark, into),
            Kind::Lines(lines) => lines.push(bytes, mark, into),
            Kind::Whole(body) => {
                body.extend_from_slice(bytes);
                0
            }
        };
        let limit = self.limits.max_event_bytes;
        if open.max(into.greatest()) as u64 > limit {
            return Err(FramingError::EventTooLarge(limit));
        }
        Ok(())
    }

    /// The body is over. After a clean end a last frame without its closing blank line (or line end) is
    /// taken where it is complete JSON or `done`: the standard discards it, but servers do so.
    pub fn finish(&mut self, clean: bool, done: Option<&str>, into: &mut Frames) {
        let Some(mark) = self.last else { return };
        match &mut self.kind {
            Kind::Events(events) => events.finish(clean, done, mark, into),
            Kind::Lines(lines) => lines.finish(clean, done, mark, into),
            Kind::Whole(body) => {
                if !body.is_empty() {
                    into.push(body, mark);
                    *body = Vec::new();
                }
            }
        }
    }
}

/// Whether a last frame without its end may be taken.
pub(super) fn is_complete(frame: &[u8], done: Option<&str>) -> bool {
    done.is_some_and(|d| d.as_bytes() == frame) || serde_json::from_slice::<serde::de::IgnoredAny>(frame).is_ok()
}
