//! The frames of one answer, kept until they are decoded.
//!
//! Engines send the same JSON again and again with a few bytes changed, so a frame is kept as what differs
//! from the one before: an answer of 200 tokens takes 3 KiB instead of 50, and a thread can hold tens of
//! thousands of streams. What two frames share also lets the decoder skip most of its work.

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

/// Frames without their framing, and the reads that ended them.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// For each frame four numbers (base 128, least first): 1 where another read than the frame before
    /// ended it, bytes shared with the frame before at the start and at the end, bytes between; then the
    /// bytes between.
    packed: Vec<u8>,
    /// Reads that ended at least one frame.
    reads: Vec<Mark>,
    /// The last frame, whole.
    last: Vec<u8>,
    count: usize,
    greatest: usize,
}

/// A frame, as a [`FrameReader`] gives it.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'r> {
    /// Its bytes.
    pub bytes: &'r [u8],
    /// Bytes at its start that are those of the frame before.
    pub same_start: usize,
    /// Bytes at its end that are those of the end of the frame before.
    pub same_end: usize,
}

impl Frames {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The last frame; empty where there is none.
    pub fn last(&self) -> &[u8] {
        &self.last
    }

    /// Size of the greatest frame so far, bytes.
    pub fn greatest(&self) -> usize {
        self.greatest
    }

    /// Reads them from the first on.
    pub fn reader(&self) -> FrameReader<'_> {
        FrameReader { rest: &self.packed, frame: Vec::with_capacity(self.last.len() + 64) }
    }

    /// When each frame's last byte came.
    pub fn marks(&self) -> Vec<Mark> {
        let mut marks = Vec::with_capacity(self.count);
        let mut rest = &self.packed[..];
        let mut reads = self.reads.iter();
        let mut mark = None;
        while let Some(head) = Head::take(&mut rest) {
            if head.new_read {
                mark = reads.next();
            }
            marks.extend(mark);
            rest = rest.get(head.between..).unwrap_or_default();
        }
        marks
    }

    /// Bytes in memory.
    pub fn weight(&self) -> usize {
        self.packed.capacity() + self.last.capacity() + self.reads.capacity() * size_of::<Mark>()
    }

    /// Takes a frame that was ended by the read `mark`; `frame` is empty afterwards.
    pub(super) fn push(&mut self, frame: &mut Vec<u8>, mark: Mark) {
        let new_read = self.reads.last().is_none_or(|m| m.number != mark.number);
        if new_read {
            self.reads.push(mark);
        }
        let same_start = shared_start(frame, &self.last);
        let same_end = shared_end(&frame[same_start..], &self.last[same_start..]);
        let between = &frame[same_start..frame.len() - same_end];
        for number in [usize::from(new_read), same_start, same_end, between.len()] {
            put(&mut self.packed, number);
        }
        self.packed.extend_from_slice(between);
        self.greatest = self.greatest.max(frame.len());
        self.count += 1;
        std::mem::swap(&mut self.last, frame);
        frame.clear();
    }
}

/// Gives frames one after another.
#[derive(Debug)]
pub struct FrameReader<'f> {
    rest: &'f [u8],
    frame: Vec<u8>,
}

impl FrameReader<'_> {
    /// The next frame, until the one after it is asked for.
    #[expect(clippy::should_implement_trait, reason = "a frame lives until the next: no iterator can say so")]
    pub fn next(&mut self) -> Option<Frame<'_>> {
        let Head { same_start, same_end, between, .. } = Head::take(&mut self.rest)?;
        let (between, rest) = self.rest.split_at_checked(between)?;
        self.rest = rest;
        let end = self.frame.len().checked_sub(same_end)?;
        self.frame.splice(same_start.min(end)..end, between.iter().copied());
        Some(Frame { bytes: &self.frame, same_start, same_end })
    }
}

/// What stands before a frame's own bytes.
struct Head {
    new_read: bool,
    same_start: usize,
    same_end: usize,
    between: usize,
}

impl Head {
    fn take(rest: &mut &[u8]) -> Option<Head> {
        let new_read = get(rest)? == 1;
        Some(Head { new_read, same_start: get(rest)?, same_end: get(rest)?, between: get(rest)? })
    }
}

fn put(into: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

fn get(from: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Bytes compared at once.
const STRIDE: usize = 16;

fn shared_start(a: &[u8], b: &[u8]) -> usize {
    let strides = a.chunks_exact(STRIDE).zip(b.chunks_exact(STRIDE)).take_while(|(x, y)| x == y).count();
    let from = strides * STRIDE;
    from + a[from..].iter().zip(&b[from..]).take_while(|(x, y)| x == y).count()
}

fn shared_end(a: &[u8], b: &[u8]) -> usize {
    let strides = a.rchunks_exact(STRIDE).zip(b.rchunks_exact(STRIDE)).take_while(|(x, y)| x == y).count();
    let less = strides * STRIDE;
    let (a, b) = (&a[..a.len() - less], &b[..b.len() - less]);
    less + a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(number: u64) -> Mark {
        Mark { stamp: Nanos(number * 10), read: Nanos(number * 10 + 1), number, kernel: true }
    }

    #[test]
    fn frames_come_back_as_they_were() {
        let long = "x".repeat(70_000);
        let texts = [
            r#"{"c":"Hel"}"#,
            r#"{"c":"lo"}"#,
            r#"{"c":"lo"}"#,
            "",
            r#"{"c":"aa"}"#,
            r#"{"c":"aaa"}"#,
            &long,
            "x",
            "[DONE]",
        ];
        let reads = [0, 1, 1, 2, 3, 3, 3, 9, 10];
        let mut frames = Frames::default();
        for (text, read) in texts.iter().zip(reads) {
            let mut bytes = text.as_bytes().to_vec();
            frames.push(&mut bytes, mark(read));
            assert!(bytes.is_empty() && frames.last() == text.as_bytes());
        }
        let mut reader = frames.reader();
        let mut before = Vec::new();
        for text in texts {
            let frame = reader.next().unwrap();
            assert_eq!(frame.bytes, text.as_bytes());
            assert_eq!(frame.bytes[..frame.same_start], before[..frame.same_start]);
            assert!(frame.bytes.ends_with(&before[before.len() - frame.same_end..]));
            before = frame.bytes.to_vec();
        }
        assert!(reader.next().is_none());
        assert_eq!(frames.marks(), reads.map(mark));
        assert_eq!((frames.len(), frames.greatest()), (9, 70_000));
    }

    #[test]
    fn an_answer_of_like_frames_takes_little() {
        let mut frames = Frames::default();
        for i in 0..200u64 {
            let text =
                format!(r#"{{"id":"chatcmpl-1","choices":[{{"delta":{{"content":" w{i}"}},"finish_reason":null}}]}}"#);
            frames.push(&mut text.into_bytes(), mark(i));
        }
        assert!(frames.packed.len() < 200 * 9, "{}", frames.packed.len());
    }
}
