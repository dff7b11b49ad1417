//! The frames of one answer, kept until they are decoded.

use bench_core::clock::Nanos;

/// When bytes arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When the last byte reached this machine's kernel, where it told; else when it was read.
    pub stamp: Nanos,
    /// When it was read.
    pub read: Nanos,
    /// Number of the read on its connection.
    pub number: u64,
    /// `stamp` is the kernel's.
    pub kernel: bool,
}

/// Frames without their framing, one after another in one buffer.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    pub(super) bytes: Vec<u8>,
    /// Where each frame begins in `bytes`, where it ends, and when its last byte came.
    pub(super) marks: Vec<(usize, usize, Mark)>,
}

impl Frames {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// A frame's bytes.
    pub fn frame(&self, i: usize) -> &[u8] {
        let (from, to, _) = self.marks[i];
        &self.bytes[from..to]
    }

    /// When a frame's last byte came.
    pub fn mark(&self, i: usize) -> Mark {
        self.marks[i].2
    }

    /// Bytes and marks in memory.
    pub fn weight(&self) -> usize {
        self.bytes.capacity() + self.marks.capacity() * size_of::<(usize, usize, Mark)>()
    }

    /// Ends the frame that began at `from`.
    pub(super) fn push(&mut self, from: usize, mark: Mark) {
        self.marks.push((from, self.bytes.len(), mark));
    }
}
