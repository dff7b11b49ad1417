//! One JSON text a line.

use super::framer::is_complete;
use super::frames::{Frames, Mark};

#[derive(Debug, Default)]
pub(super) struct JsonLines {
    /// The line whose end has not come.
    open: Vec<u8>,
}

impl JsonLines {
    /// Takes bytes; the size so far of the line that is still open.
    pub(super) fn push(&mut self, mut bytes: &[u8], mark: Mark, into: &mut Frames) -> usize {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.open.extend_from_slice(&bytes[..end]);
            self.close(mark, into);
            bytes = &bytes[end + 1..];
        }
        self.open.extend_from_slice(bytes);
        self.open.len()
    }

    fn close(&mut self, mark: Mark, into: &mut Frames) {
        self.open.truncate(self.open.trim_ascii_end().len());
        if !self.open.is_empty() {
            into.push(&self.open, mark);
            self.open.clear();
        }
    }

    pub(super) fn finish(&mut self, clean: bool, done: Option<&str>, mark: Mark, into: &mut Frames) {
        if clean && is_complete(self.open.trim_ascii(), done) {
            self.close(mark, into);
        }
        self.open = Vec::new();
    }
}
