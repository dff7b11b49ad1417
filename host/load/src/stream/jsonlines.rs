//! One JSON text a line.

use super::framer::is_complete;
use super::frames::{Frames, Mark};

#[derive(Debug, Default)]
pub(super) struct JsonLines {
    /// Where the open line begins.
    from: usize,
}

impl JsonLines {
    /// Takes bytes; the size so far of the line that is still open.
    pub(super) fn push(&mut self, mut bytes: &[u8], mark: Mark, into: &mut Frames) -> usize {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            into.bytes.extend_from_slice(&bytes[..end]);
            self.close(mark, into);
            bytes = &bytes[end + 1..];
        }
        into.bytes.extend_from_slice(bytes);
        into.bytes.len() - self.from
    }

    fn close(&mut self, mark: Mark, into: &mut Frames) {
        let line = &into.bytes[self.from..];
        into.bytes.truncate(self.from + line.trim_ascii_end().len());
        if into.bytes.len() > self.from {
            into.push(self.from, mark);
        }
        self.from = into.bytes.len();
    }

    pub(super) fn finish(&mut self, clean: bool, done: Option<&str>, mark: Mark, into: &mut Frames) {
        if clean && is_complete(into.bytes[self.from..].trim_ascii(), done) {
            self.close(mark, into);
        } else {
            into.bytes.truncate(self.from);
        }
    }
}
