//! The journal: rows in frames, handed to the kernel frame by frame, so that they outlive this process however it
//! ends.
//!
//! The file begins with two lines, the journal's own version and the names of the columns. A frame is the length of
//! its rows and a checksum over them, 8 bytes each, and the rows (see [`crate::row`]).

use crate::columns::COLUMNS;
use crate::error::TraceError;
use crate::row::{self, RowReader};
use crate::schema::{Column, columns};
use bench_core::record::RequestRecord;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// First line of a journal. Rows written in another way have another number.
const VERSION: &str = "bench-journal 1\n";
/// Length and checksum.
const FRAME_HEAD: usize = 16;

/// Rows that go to the journal together.
pub(crate) struct Frame {
    columns: Vec<&'static Column>,
    /// The head's place, and the rows.
    bytes: Vec<u8>,
    rows: usize,
}

impl Frame {
    /// An empty one, with or without the columns of texts.
    pub(crate) fn new(text: bool) -> Frame {
        Frame { columns: columns(text).collect(), bytes: vec![0; FRAME_HEAD], rows: 0 }
    }

    /// Adds a row; a record that can't be one changes nothing.
    pub(crate) fn push(&mut self, record: &RequestRecord) -> Result<(), TraceError> {
        row::write(&self.columns, record, &mut self.bytes)?;
        self.rows += 1;
        Ok(())
    }

    /// Rows that wait.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes that the rows take.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes.len() - FRAME_HEAD
    }

    /// Makes it empty. What a huge row took in memory is given back.
    fn clear(&mut self, keep: usize) {
        self.bytes.truncate(FRAME_HEAD);
        self.bytes.shrink_to(keep);
        self.rows = 0;
    }
}

/// A journal that is being written.
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Most memory that a frame keeps for the next one.
    const KEPT: usize = 4 << 20;

    /// Starts one for frames like this.
    pub(crate) fn create(path: PathBuf, frame: &Frame) -> Result<Journal, TraceError> {
        let names: Vec<&str> = frame.columns.iter().map(|c| c.name).collect();
        let head = format!("{VERSION}{}\n", names.join(" "));
        let file = File::create(&path).map_err(TraceError::io("make", &path))?;
        let mut journal = Journal { file, path };
        journal.write_all(head.as_bytes())?;
        Ok(journal)
    }

    /// Hands the rows to the kernel; the frame is empty again.
    pub(crate) fn write(&mut self, frame: &mut Frame) -> Result<(), TraceError> {
        let (head, rows) = frame.bytes.split_at_mut(FRAME_HEAD);
        head[..8].copy_from_slice(&(rows.len() as u64).to_le_bytes());
        head[8..].copy_from_slice(&checksum(rows).to_le_bytes());
        self.write_all(&frame.bytes)?;
        frame.clear(Journal::KEPT);
        Ok(())
    }

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        self.file.write_all(bytes).map_err(TraceError::io("write the journal", &self.path))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Reads the records of a journal's whole frames, wherever it was cut, and returns the number of bytes after them.
/// `take` is told the columns with the first record.
pub(crate) fn replay(
    path: &Path,
    mut take: impl FnMut(&RequestRecord, &Replayed) -> Result<(), TraceError>,
) -> Result<u64, TraceError> {
    let read = |error| TraceError::io("read", path)(error);
    let file = File::open(path).map_err(TraceError::io("open", path))?;
    let length = file.metadata().map_err(TraceError::io("look at", path))?.len();
    let mut file = BufReader::new(file);
    let Some((columns, mut whole)) = head(&mut file, path)? else { return Ok(length) };
    let replayed = Replayed { text: columns.iter().any(|c| c.text) };
    let mut reader = RowReader::new(columns);
    let mut rows = Vec::new();
    while let Some(frame) = frame_head(&mut file).map_err(read)? {
        let end = whole.saturating_add(FRAME_HEAD as u64).saturating_add(frame.length);
        if end > length {
            break;
        }
        rows.clear();
        (&mut file).take(frame.length).read_to_end(&mut rows).map_err(read)?;
        if checksum(&rows) != frame.checksum {
            break;
        }
        let mut rest = rows.as_slice();
        while !rest.is_empty() {
            let record = reader.read(&mut rest).ok_or_else(|| TraceError::Damaged { path: path.to_owned() })?;
            take(&record, &replayed)?;
        }
        whole = end;
    }
    Ok(length.saturating_sub(whole))
}

/// What is known of a journal's rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replayed {
    /// They have the columns of texts.
    pub(crate) text: bool,
}

/// The columns of a journal's rows, and the bytes of its two lines; `None` where it was cut within them.
fn head(file: &mut impl BufRead, path: &Path) -> Result<Option<(Vec<&'static Column>, u64)>, TraceError> {
    let mut lines = [Vec::new(), Vec::new()];
    for line in &mut lines {
        file.read_until(b'\n', line).map_err(TraceError::io("read", path))?;
    }
    let [version, names] = &lines;
    let foreign = || TraceError::Journal { path: path.to_owned() };
    if version != VERSION.as_bytes() {
        return if VERSION.as_bytes().starts_with(version) { Ok(None) } else { Err(foreign()) };
    }
    let Some(names_line) = names.strip_suffix(b"\n") else { return Ok(None) };
    let known = |name: &[u8]| COLUMNS.iter().find(|c| c.name.as_bytes() == name);
    let columns = names_line.split(|byte| *byte == b' ').map(known).collect::<Option<Vec<_>>>();
    Ok(Some((columns.ok_or_else(foreign)?, (version.len() + names.len()) as u64)))
}

struct FrameHead {
    length: u64,
    checksum: u64,
}

/// The head of the next frame; `None` where there is no whole one.
fn frame_head(file: &mut impl Read) -> std::io::Result<Option<FrameHead>> {
    let mut head = [0; FRAME_HEAD];
    let mut filled = 0;
    while filled < FRAME_HEAD {
        match file.read(&mut head[filled..])? {
            0 => return Ok(None),
            read => filled += read,
        }
    }
    let (length, checksum) = head.split_at(8);
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
    // Zeros are what a file system leaves of bytes that were never on the disk.
    let frame = FrameHead { length: number(length), checksum: number(checksum) };
    Ok((frame.length > 0).then_some(frame))
}

/// Tells rows from what a machine that lost its power may have left in their place. Four sums beside each other, since
/// one has to wait for its product.
fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = |sum: u64, word: &[u8]| {
        let word = word.try_into().map_or(0, u64::from_le_bytes);
        (sum ^ word).wrapping_mul(FACTOR).rotate_left(31)
    };
    let mut sums = [1, 2, 3, bytes.len() as u64];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        for (sum, word) in sums.iter_mut().zip(block.chunks_exact(8)) {
            *sum = step(*sum, word);
        }
    }
    let tail = rest.iter().fold(0, |sum: u64, byte| step(sum, &[*byte, 0, 0, 0, 0, 0, 0, 1]));
    sums.iter().fold(tail, |all, sum| step(all, &sum.to_le_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_core::decode::EventKind;
    use bench_core::record::Events;
    use std::fs;

    fn record(n: u64) -> RequestRecord {
        let events = Events {
            gap_us: (0..n as i64).map(|i| i * 1_000_003 - 5).collect(),
            tokens: n.is_multiple_of(2).then(|| vec![300; n as usize]),
            merged: (0..n).map(|i| i % 3 == 0).collect(),
            kind: (0..n as usize).map(|i| EventKind::ALL[i % 6]).collect(),
        };
        let error = Some("größer".repeat(n as usize));
        RequestRecord { request: n, error, events: (n != 4).then_some(events), ..crate::decode::blank() }
    }

    fn write(path: &Path, frames: &[&[u64]]) -> Vec<u64> {
        let mut frame = Frame::new(false);
        let mut journal = Journal::create(path.to_owned(), &frame).unwrap();
        let write = |numbers: &&[u64]| {
            numbers.iter().for_each(|n| frame.push(&record(*n)).unwrap());
            journal.write(&mut frame).unwrap();
            fs::metadata(path).unwrap().len()
        };
        frames.iter().map(write).collect()
    }

    fn read(path: &Path) -> (Vec<RequestRecord>, u64) {
        let mut read = Vec::new();
        let lost = replay(path, |record, replayed| {
            assert!(!replayed.text);
            read.push(record.clone());
            Ok(())
        });
        (read, lost.unwrap())
    }

    #[test]
    fn a_journal_cut_at_any_byte_gives_its_whole_frames() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let frames: [&[u64]; 3] = [&[1, 2, 3], &[4], &[10, 11, 12, 13]];
        let ends = write(&path, &frames);
        let whole = fs::read(&path).unwrap();
        for cut in 0..=whole.len() as u64 {
            fs::write(&path, &whole[..cut as usize]).unwrap();
            let (records, lost) = read(&path);
            let before = ends.iter().filter(|end| **end <= cut).count();
            let expected: Vec<_> = frames[..before].concat().into_iter().map(record).collect();
            assert_eq!(records, expected, "cut at {cut}");
            if let Some(end) = ends[..before].last() {
                assert_eq!(lost, cut - end, "cut at {cut}");
            }
        }
    }

    #[test]
    fn bytes_that_never_reached_the_disk_end_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let ends = write(&path, &[&[1, 2, 3], &[4], &[10, 11]]);
        let whole = fs::read(&path).unwrap();
        for zeroed in ends[0]..ends[2] {
            let mut torn = whole.clone();
            torn[zeroed as usize..].fill(0);
            if torn == whole {
                continue;
            }
            fs::write(&path, &torn).unwrap();
            let records = read(&path).0;
            let frames = if zeroed < ends[1] && torn[..ends[1] as usize] != whole[..ends[1] as usize] { 3 } else { 4 };
            assert_eq!(records.len(), frames, "zeros from {zeroed}");
        }
    }

    #[test]
    fn the_names_of_columns_are_written_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        write(&path, &[&[1], &[2], &[3]]);
        let bytes = fs::read(&path).unwrap();
        let names = b"event_gap_us event_tokens";
        assert_eq!(bytes.windows(names.len()).filter(|w| w == names).count(), 1);
    }

    #[test]
    fn a_journal_of_another_version_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        for head in ["bench-journal 2\nscenario\n", "bench-journal 1\nno_such_column\n", "ARROW1\0\0"] {
            fs::write(&path, head).unwrap();
            let error = replay(&path, |_, _| Ok(())).unwrap_err();
            assert!(matches!(error, TraceError::Journal { .. }), "{error}");
        }
    }
}
