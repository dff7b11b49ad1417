//! The part of a file that is being looked at.

use crate::granted::{GrantedFile, Malformed};

/// Bytes read at once. Few in tests, so that everything falls onto a boundary.
const CHUNK: usize = if cfg!(test) { 7 } else { 256 << 10 };

/// A stretch of a file in memory, with a place in it. What lies before the kept start is given up when
/// more is read, so its size is a chunk and the record that is being read.
pub(crate) struct Window {
    file: GrantedFile,
    bytes: Vec<u8>,
    /// Offset in the file of `bytes[0]`.
    base: u64,
    /// Index of the byte that is looked at next.
    at: usize,
    /// Index from which bytes are kept.
    keep: usize,
}

impl Window {
    pub(crate) fn new(file: GrantedFile) -> Window {
        Window { file, bytes: Vec::new(), base: 0, at: 0, keep: 0 }
    }

    /// Offset in the file of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// The bytes from the next one on that are in memory; none only at the end of the file.
    pub(crate) fn rest(&mut self) -> Result<&[u8], Malformed> {
        if self.at == self.bytes.len() {
            self.fill()?;
        }
        Ok(&self.bytes[self.at..])
    }

    /// Moves on by `n` bytes of [`Window::rest`].
    pub(crate) fn advance(&mut self, n: usize) {
        self.at += n;
    }

    /// A record starts at the next byte: keep the bytes from here.
    pub(crate) fn mark(&mut self) {
        self.keep = self.at;
    }

    /// Bytes from the mark to the next byte.
    pub(crate) fn marked(&self) -> &[u8] {
        &self.bytes[self.keep..self.at]
    }

    /// An error at an offset of the file.
    pub(crate) fn error<T>(&self, offset: u64, message: String) -> Result<T, Malformed> {
        Err(self.file.malformed(offset, message))
    }

    fn fill(&mut self) -> Result<(), Malformed> {
        self.bytes.drain(..self.keep);
        self.base += self.keep as u64;
        self.at -= self.keep;
        self.keep = 0;
        let old = self.bytes.len();
        self.bytes.resize(old + CHUNK, 0);
        let read = self.file.read_at(&mut self.bytes[old..], self.base + old as u64);
        self.bytes.truncate(old + *read.as_ref().unwrap_or(&0));
        read.map(|_| ())
    }
}
