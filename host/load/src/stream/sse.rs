//! `text/event-stream` by the WHATWG HTML standard, section "Server-sent events".
//!
//! Only `data` matters here: other fields and comments are skipped. An event whose data is empty carries
//! nothing and makes no frame.

use super::framer::is_complete;
use super::frames::{Frames, Mark};

const BOM: &[u8] = b"\xEF\xBB\xBF";

#[derive(Debug, Default)]
pub(super) struct EventStream {
    /// Start of a line whose end has not come.
    partial: Vec<u8>,
    /// The line before ended with CR: an LF that follows belongs to it.
    after_cr: bool,
    /// Bytes of a byte order mark seen at the stream's start; `None` once the start is over.
    bom: Option<BomState>,
    started: bool,
    /// The open event's data.
    open: Vec<u8>,
    /// The open event has a `data` field, be it empty.
    has_data: bool,
}

#[derive(Debug, Default)]
struct BomState {
    seen: usize,
}

impl EventStream {
    /// Takes bytes; the size so far of the event that is still open.
    pub(super) fn push(&mut self, bytes: &[u8], mark: Mark, into: &mut Frames) -> usize {
        let mut rest = if self.started { bytes } else { self.skip_bom(bytes) };
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', rest);
            if let Some(end) = end
                && self.partial.is_empty()
                && !self.has_data
                && rest[end..].starts_with(b"\n\n")
                && let Some(value) = rest[..end].strip_prefix(b"data:")
            {
                // Nearly always: an event of one line that came whole. It is not copied first.
                let value = value.strip_prefix(b" ").unwrap_or(value);
                if !value.is_empty() {
                    into.push(value, mark);
                }
                rest = &rest[end + 2..];
                continue;
            }
            let Some(end) = end else {
                self.partial.extend_from_slice(rest);
                break;
            };
            self.after_cr = rest[end] == b'\r';
            if self.partial.is_empty() {
                self.line(&rest[..end], mark, into);
            } else {
                let mut line = std::mem::take(&mut self.partial);
                line.extend_from_slice(&rest[..end]);
                self.line(&line, mark, into);
                line.clear();
                self.partial = line;
            }
            rest = &rest[end + 1..];
        }
        self.partial.len() + self.open.len()
    }

    /// Skips one byte order mark at the stream's start, however it is cut.
    fn skip_bom<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        let mut seen = self.bom.take().unwrap_or_default().seen;
        while seen < BOM.len() && bytes.first() == Some(&BOM[seen]) {
            seen += 1;
            bytes = &bytes[1..];
        }
        if seen < BOM.len() && bytes.is_empty() {
            self.bom = Some(BomState { seen });
            return bytes;
        }
        self.started = true;
        if seen < BOM.len() {
            self.partial.extend_from_slice(&BOM[..seen]);
        }
        bytes
    }

    fn line(&mut self, line: &[u8], mark: Mark, into: &mut Frames) {
        if line.is_empty() {
            self.has_data = false;
            if !self.open.is_empty() {
                into.push(&self.open, mark);
                self.open.clear();
            }
            return;
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        if name != b"data" {
            return;
        }
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if std::mem::replace(&mut self.has_data, true) {
            self.open.push(b'\n');
        }
        self.open.extend_from_slice(value);
    }

    pub(super) fn finish(&mut self, clean: bool, done: Option<&str>, mark: Mark, into: &mut Frames) {
        if clean && !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            self.line(&line, mark, into);
        }
        if clean && self.has_data && is_complete(&self.open, done) {
            into.push(&self.open, mark);
        }
        self.has_data = false;
        self.open = Vec::new();
    }
}
