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
    /// Number of the read: two frames with one number came in one read.
    pub number: u64,
    /// `stamp` is the kernel's.
    pub kernel: bool,
}

/// Frames without their framing, and the reads that ended them.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// For each frame numbers in base 128, least first: how its read is to be taken ([`Read`]), and where it
    /// is another than that of the frame before, the time from that one's stamp (times two, odd where it is
    /// negative) and from stamp to read; bytes shared with the frame before at the start and at the end;
    /// bytes between. Then the bytes between.
    ///
    /// All in one place: with many streams what a frame costs is the memory that it touches.
    packed: Vec<u8>,
    /// The read that ended the last frame.
    last_read: Option<Mark>,
    /// The last frame, if it is not too great to be kept whole.
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
        let mut marks: Vec<Mark> = Vec::with_capacity(self.count);
        let mut rest = &self.packed[..];
        while let Some(head) = Head::take(&mut rest) {
            let mark = match (head.read, marks.last()) {
                (Some(read), before) => Some(read.mark(before)),
                (None, before) => before.copied(),
            };
            marks.extend(mark);
            rest = rest.get(head.between..).unwrap_or_default();
        }
        marks
    }

    /// Bytes in memory.
    pub fn weight(&self) -> usize {
        self.packed.capacity() + self.last.capacity()
    }

    /// Takes a frame that was ended by the read `mark`.
    pub(super) fn push(&mut self, frame: &[u8], mark: Mark) {
        let same_start = shared_start(frame, &self.last);
        let same_end = shared_end(&frame[same_start..], &self.last[same_start..]);
        let between = &frame[same_start..frame.len() - same_end];
        Read::put(mark, self.last_read.as_ref(), &mut self.packed);
        self.last_read = Some(mark);
        for number in [same_start, same_end, between.len()] {
            put(&mut self.packed, number as u64);
        }
        self.packed.extend_from_slice(between);
        self.greatest = self.greatest.max(frame.len());
        self.count += 1;
        if frame.len() > MOST_WHOLE {
            self.last = Vec::new();
        } else {
            let end = self.last.len() - same_end;
            replace(&mut self.last, same_start, end, between);
        }
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
        let end = self.frame.len().checked_sub(same_end).filter(|end| same_start <= *end)?;
        replace(&mut self.frame, same_start, end, between);
        Some(Frame { bytes: &self.frame, same_start, same_end })
    }
}

/// What stands before a frame's own bytes.
struct Head {
    /// The read that ended it, where it is another than that of the frame before.
    read: Option<Read>,
    same_start: usize,
    same_end: usize,
    between: usize,
}

impl Head {
    fn take(rest: &mut &[u8]) -> Option<Head> {
        let read = Read::take(rest)?;
        let mut size = || get(rest).map(|n| n as usize);
        Some(Head { read, same_start: size()?, same_end: size()?, between: size()? })
    }
}

/// A read, against the one before.
struct Read {
    /// From the stamp before, ns.
    later: i64,
    /// From its stamp, ns.
    lag: u64,
    kernel: bool,
}

impl Read {
    const SAME: u64 = 0;
    const AT_READ: u64 = 1;
    const BY_KERNEL: u64 = 2;

    fn put(mark: Mark, before: Option<&Mark>, into: &mut Vec<u8>) {
        if before.is_some_and(|b| b.number == mark.number) {
            return put(into, Self::SAME);
        }
        let later = mark.stamp.0.wrapping_sub(before.map_or(0, |b| b.stamp.0)) as i64;
        put(into, if mark.kernel { Self::BY_KERNEL } else { Self::AT_READ });
        put(into, ((later << 1) ^ (later >> 63)) as u64);
        put(into, mark.read.saturating_sub(mark.stamp).0);
    }

    fn take(rest: &mut &[u8]) -> Option<Option<Read>> {
        let kernel = match get(rest)? {
            Self::SAME => return Some(None),
            by => by == Self::BY_KERNEL,
        };
        let later = get(rest)?;
        Some(Some(Read { later: (later >> 1) as i64 ^ -((later & 1) as i64), lag: get(rest)?, kernel }))
    }

    fn mark(&self, before: Option<&Mark>) -> Mark {
        let stamp = Nanos(before.map_or(0, |b| b.stamp.0).wrapping_add_signed(self.later));
        let number = before.map_or(0, |b| b.number + 1);
        Mark { stamp, read: stamp + Nanos(self.lag), number, kernel: self.kernel }
    }
}

/// Puts `new` in the place of the bytes from `start` to `end`.
fn replace(bytes: &mut Vec<u8>, start: usize, end: usize, new: &[u8]) {
    let (size, new_end) = (bytes.len(), start + new.len());
    let new_size = new_end + (size - end);
    if new_size > size {
        bytes.resize(new_size, 0);
    }
    if new_end != end {
        bytes.copy_within(end..size, new_end);
        bytes.truncate(new_size);
    }
    bytes[start..new_end].copy_from_slice(new);
}

fn put(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

fn get(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Bytes compared at once.
const STRIDE: usize = 16;
/// A frame of more bytes is not kept whole beside its packed form.
const MOST_WHOLE: usize = 64 << 10;

fn shared_start(a: &[u8], b: &[u8]) -> usize {
    let ((a_strides, _), (b_strides, _)) = (a.as_chunks::<STRIDE>(), b.as_chunks::<STRIDE>());
    let from = STRIDE * a_strides.iter().zip(b_strides).take_while(|(x, y)| x == y).count();
    from + a[from..].iter().zip(&b[from..]).take_while(|(x, y)| x == y).count()
}

fn shared_end(a: &[u8], b: &[u8]) -> usize {
    let ((_, a_strides), (_, b_strides)) = (a.as_rchunks::<STRIDE>(), b.as_rchunks::<STRIDE>());
    let less = STRIDE * a_strides.iter().rev().zip(b_strides.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - less], &b[..b.len() - less]);
    less + a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(number: u64) -> Mark {
        // Stamps may go back where a clock is set.
        let stamp = Nanos(1_000_000_000 - (number % 3) * 7 + number);
        Mark { stamp, read: stamp + Nanos(number * 1_000), number, kernel: number % 2 == 0 }
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
        let reads = [0, 1, 1, 2, 3, 3, 3, 4, 5];
        let mut frames = Frames::default();
        for (text, read) in texts.iter().zip(reads) {
            frames.push(text.as_bytes(), mark(read));
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
            frames.push(text.as_bytes(), mark(i));
        }
        assert!(frames.packed.len() < 200 * 12, "{}", frames.packed.len());
    }
}
