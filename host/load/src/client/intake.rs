//! Body bytes to stamped frames, while the clock runs.

use crate::stream::{Encoding, FrameLimits, Framer, Frames, FramingError, Glance, Inflate, Mark};
use bench_core::clock::Nanos;
use bench_core::decode::Framing;
use http::{HeaderMap, StatusCode, header};

/// Takes one answer's body.
#[derive(Debug)]
pub(crate) struct Intake {
    inflate: Option<Inflate>,
    inflated: Vec<u8>,
    framer: Framer,
    pub(crate) frames: Frames,
    pub(crate) streamed: bool,
    /// Generated content came.
    pub(crate) has_content: bool,
    /// When the latest event came.
    pub(crate) last_event: Option<Nanos>,
}

impl Intake {
    /// For an answer with this head. A body that isn't of the stream's type is one frame.
    pub(crate) fn new(status: StatusCode, headers: &HeaderMap, framing: Framing, limits: FrameLimits) -> Intake {
        let streamed = status.is_success() && is_stream(headers, framing);
        let framing = if streamed { framing } else { Framing::Whole };
        Intake {
            inflate: encoding(headers).map(Inflate::new),
            inflated: Vec::new(),
            framer: Framer::new(framing, limits),
            frames: Frames::looked_at(),
            streamed,
            has_content: false,
            last_event: None,
        }
    }

    /// Takes bytes of the body; how many events they ended.
    pub(crate) fn push(&mut self, bytes: &[u8], mark: Mark, glance: &Glance) -> Result<u64, FramingError> {
        let before = self.frames.len();
        match &mut self.inflate {
            None => self.framer.push(bytes, mark, &mut self.frames)?,
            Some(inflate) => {
                inflate.push(bytes, &mut self.inflated)?;
                self.framer.push(&self.inflated, mark, &mut self.frames)?;
            }
        }
        let new = self.frames.len() - before;
        if new > 0 {
            self.last_event = Some(mark.stamp);
            let has_content = &mut self.has_content;
            self.frames.look(|fresh| {
                *has_content = glance.has_content(fresh);
                *has_content
            });
        }
        Ok(new as u64)
    }

    /// The body is over.
    pub(crate) fn finish(&mut self, clean: bool, done: Option<&str>) -> Result<(), FramingError> {
        let checked = match &mut self.inflate {
            Some(inflate) if clean => inflate.finish(),
            _ => Ok(()),
        };
        self.framer.finish(clean && checked.is_ok(), done, &mut self.frames);
        checked
    }
}

fn is_stream(headers: &HeaderMap, framing: Framing) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match framing {
        Framing::ServerSentEvents => essence == "text/event-stream",
        Framing::JsonLines => {
            ["application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-lines"]
                .contains(&essence.as_str())
        }
        Framing::Whole => false,
    }
}

fn encoding(headers: &HeaderMap) -> Option<Encoding> {
    let value = headers.get(header::CONTENT_ENCODING)?.to_str().ok()?.trim().to_ascii_lowercase();
    match value.as_str() {
        "gzip" | "x-gzip" => Some(Encoding::Gzip),
        "deflate" => Some(Encoding::Deflate),
        "" | "identity" => None,
        other => Some(Encoding::Unknown(other.to_owned())),
    }
}
