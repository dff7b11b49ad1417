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
    /// negative) and from stamp to read; then the number of edits that make it out of the frame before, and
    /// for each the bytes kept since the last edit, the bytes taken out, the bytes put in, and those bytes.
    ///
    /// All in one place: with many streams what a frame costs is the memory that it touches.
    packed: Vec<u8>,
    /// The read that ended the last frame.
    last_read: Option<Mark>,
    /// The last frame, if it is not too great to be kept whole.
    last: Vec<u8>,
    count: usize,
    greatest: usize,
    /// Frames since they were looked at, a line each; as long as somebody looks.
    fresh: Option<Vec<u8>>,
}

/// A frame, as a [`FrameReader`] gives it.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'r> {
    /// Its bytes.
    pub bytes: &'r [u8],
    /// What makes it out of the frame before, ascending; all other bytes are that one's.
    pub edits: &'r [Edit],
}

/// Bytes of one frame in the place of bytes of the frame before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Where they begin, in this frame.
    pub at: usize,
    /// How many bytes were there before.
    pub old: usize,
    /// How many are there now.
    pub new: usize,
}

impl Frames {
    /// None yet, and each new one is kept to be looked at.
    pub(crate) fn looked_at() -> Frames {
        Frames { fresh: Some(Vec::new()), ..Frames::default() }
    }

    /// Shows the frames since the last call, a line each, until `is_enough` says so.
    pub(crate) fn look(&mut self, is_enough: impl FnOnce(&[u8]) -> bool) {
        if let Some(fresh) = &mut self.fresh {
            if is_enough(fresh) {
                self.fresh = None;
            } else {
                fresh.clear();
            }
        }
    }

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
        FrameReader { rest: &self.packed, frame: Vec::with_capacity(self.last.len() + 64), edits: Vec::new() }
    }

    /// When each frame's last byte came.
    pub fn marks(&self) -> Vec<Mark> {
        let mut marks: Vec<Mark> = Vec::with_capacity(self.count);
        let mut rest = &self.packed[..];
        while let Some(read) = Read::take(&mut rest) {
            let mark = match (read, marks.last()) {
                (Some(read), before) => Some(read.mark(before)),
                (None, before) => before.copied(),
            };
            marks.extend(mark);
            for _ in 0..size(&mut rest).unwrap_or(0) {
                let skipped = EditHead::take(&mut rest).and_then(|head| rest.split_off(..head.new));
                if skipped.is_none() {
                    break;
                }
            }
        }
        marks
    }

    /// Bytes in memory.
    pub fn weight(&self) -> usize {
        self.packed.capacity() + self.last.capacity()
    }

    /// Takes a frame that was ended by the read `mark`.
    pub(super) fn push(&mut self, frame: &[u8], mark: Mark) {
        Read::put(mark, self.last_read.as_ref(), &mut self.packed);
        self.last_read = Some(mark);
        self.greatest = self.greatest.max(frame.len());
        if let Some(fresh) = &mut self.fresh {
            fresh.extend_from_slice(frame);
            fresh.push(b'\n');
        }
        self.count += 1;
        let mut edits = [Edit { at: 0, old: 0, new: 0 }; MOST_EDITS];
        let n = diff(&self.last, frame, &mut edits);
        put(&mut self.packed, n as u64);
        let mut kept_from = 0;
        for &Edit { at, old, new } in &edits[..n] {
            let bytes = &frame[at..at + new];
            for number in [at - kept_from, old, new] {
                put(&mut self.packed, number as u64);
            }
            self.packed.extend_from_slice(bytes);
            kept_from = at + new;
            if frame.len() <= MOST_WHOLE {
                replace(&mut self.last, at, at + old, bytes);
            }
        }
        if frame.len() > MOST_WHOLE {
            self.last = Vec::new();
        }
    }
}

/// Gives frames one after another.
#[derive(Debug)]
pub struct FrameReader<'f> {
    rest: &'f [u8],
    frame: Vec<u8>,
    edits: Vec<Edit>,
}

impl FrameReader<'_> {
    /// The next frame, until the one after it is asked for.
    #[expect(clippy::should_implement_trait, reason = "a frame lives until the next: no iterator can say so")]
    pub fn next(&mut self) -> Option<Frame<'_>> {
        Read::take(&mut self.rest)?;
        if self.frame.len() > MOST_WHOLE {
            // As the writer of the frames did.
            self.frame.clear();
        }
        self.edits.clear();
        let mut at = 0;
        for _ in 0..size(&mut self.rest)? {
            let EditHead { kept, old, new } = EditHead::take(&mut self.rest)?;
            let bytes = self.rest.split_off(..new)?;
            at += kept;
            let end = at.checked_add(old).filter(|end| *end <= self.frame.len())?;
            replace(&mut self.frame, at, end, bytes);
            self.edits.push(Edit { at, old, new });
            at += new;
        }
        Some(Frame { bytes: &self.frame, edits: &self.edits })
    }
}

/// What stands before an edit's bytes.
struct EditHead {
    kept: usize,
    old: usize,
    new: usize,
}

impl EditHead {
    fn take(rest: &mut &[u8]) -> Option<EditHead> {
        Some(EditHead { kept: size(rest)?, old: size(rest)?, new: size(rest)? })
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

fn size(from: &mut &[u8]) -> Option<usize> {
    get(from).map(|n| n as usize)
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

/// Most edits of a frame; what differs beyond is one edit.
const MOST_EDITS: usize = 6;
/// After this many equal bytes two frames are in step again.
const IN_STEP: usize = 8;
/// Bytes that may differ in place, as a number's digits.
const MOST_IN_PLACE: usize = 40;

/// What makes `new` out of `old`: some bytes that differ in place, then at most one piece of another length.
fn diff(old: &[u8], new: &[u8], edits: &mut [Edit; MOST_EDITS]) -> usize {
    let same_end = shared_end(new, old);
    let (old, new) = (&old[..old.len() - same_end], &new[..new.len() - same_end]);
    let both = old.len().min(new.len());
    let (mut n, mut at) = (0, 0);
    loop {
        at += shared_start(&new[at..both], &old[at..both]);
        match in_place(&old[at..both], &new[at..both]) {
            Some(by) if n + 1 < MOST_EDITS => {
                edits[n] = Edit { at, old: by, new: by };
                (n, at) = (n + 1, at + by);
            }
            _ if at == old.len() && at == new.len() => return n,
            _ => {
                edits[n] = Edit { at, old: old.len() - at, new: new.len() - at };
                return n + 1;
            }
        }
    }
}

/// After how many bytes two pieces that begin with different bytes are in step again, if they soon are.
fn in_place(old: &[u8], new: &[u8]) -> Option<usize> {
    let mut equal = 0;
    for (i, (a, b)) in old.iter().zip(new).enumerate().take(MOST_IN_PLACE + IN_STEP).skip(1) {
        equal = if a == b { equal + 1 } else { 0 };
        if equal == IN_STEP {
            return Some(i + 1 - IN_STEP);
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
        Mark { stamp, read: stamp + Nanos(number * 1_000), number, kernel: number.is_multiple_of(2) }
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
            r#"{"id":"chat-0001-aaaa-17","c":"w"}"#,
            r#"{"id":"chat-0002-aaab-18","c":"of"}"#,
            r#"{"id":"chat-0003-aaac-19","c":"xy"}"#,
            &long,
            "x",
            "[DONE]",
        ];
        let reads = [0, 1, 1, 2, 3, 3, 4, 5, 6, 6, 6, 7];
        let mut frames = Frames::default();
        for (text, read) in texts.iter().zip(reads) {
            frames.push(text.as_bytes(), mark(read));
        }
        let mut reader = frames.reader();
        let mut before = Vec::new();
        for text in texts {
            let frame = reader.next().unwrap();
            assert_eq!(frame.bytes, text.as_bytes());
            // What is not edited is the frame before, at its place.
            let (mut at, mut before_at) = (0, 0);
            for edit in frame.edits {
                let kept = edit.at - at;
                assert_eq!(frame.bytes[at..edit.at], before[before_at..before_at + kept], "{text}");
                (at, before_at) = (edit.at + edit.new, before_at + kept + edit.old);
            }
            assert_eq!(frame.bytes[at..], before[before_at..], "{text}");
            before = if text.len() > MOST_WHOLE { Vec::new() } else { frame.bytes.to_vec() };
        }
        assert!(reader.next().is_none());
        assert_eq!(frames.marks(), reads.map(mark));
        assert_eq!((frames.len(), frames.greatest()), (12, 70_000));
    }

    #[test]
    fn an_answer_of_like_frames_takes_little() {
        let mut frames = Frames::default();
        for i in 0..200u64 {
            let text =
                format!(r#"{{"id":"chatcmpl-1","choices":[{{"delta":{{"content":" w{i}"}},"finish_reason":null}}]}}"#);
            frames.push(text.as_bytes(), mark(i));
        }
        assert!(frames.packed.len() < 200 * 13, "{}", frames.packed.len());
    }
}
