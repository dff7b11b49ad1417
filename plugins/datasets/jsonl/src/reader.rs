//! Yields the samples of a file of lines.

use crate::line;
use bench_sdk::Error;
use bench_sdk::dataset::{Batch, Note, Sample};
use std::collections::BTreeMap;

/// Bytes of lines that are read in one go.
const BATCH_BYTES: u32 = 4 << 20;

/// What the reader asks of the host: the lines of the source, in order.
pub(crate) trait Lines {
    fn next(&mut self, max: u32, max_bytes: u32) -> Result<Batch, Error>;
}

/// Goes through the lines once.
#[derive(Debug)]
pub(crate) struct LineReader<L> {
    lines: L,
    /// Tokens to ask for in every answer, in place of those of the line.
    output_len: Option<u32>,
    /// Samples that are still wanted.
    left: u64,
    seen: u64,
    turns: BTreeMap<String, u32>,
    skipped: Option<Note>,
}

impl<L: Lines> LineReader<L> {
    pub(crate) fn new(lines: L, output_len: Option<u32>, wanted: u64) -> LineReader<L> {
        LineReader { lines, output_len, left: wanted, seen: 0, turns: BTreeMap::new(), skipped: None }
    }

    /// The next samples, at most `max`; none at the end of the lines.
    pub(crate) fn next(&mut self, max: u32) -> Result<Vec<Sample>, Error> {
        let max = u64::from(max).min(self.left) as u32;
        let mut samples = Vec::new();
        // A batch may hold nothing but bad lines; only an empty batch is the end.
        while samples.is_empty() && max > 0 {
            let batch = self.lines.next(max, BATCH_BYTES)?;
            if batch.ends.is_empty() {
                break;
            }
            for (offset, line) in batch.iter() {
                samples.extend(self.sample(offset, line));
            }
        }
        self.left -= samples.len() as u64;
        Ok(samples)
    }

    pub(crate) fn notes(&self) -> Vec<Note> {
        self.skipped.iter().cloned().collect()
    }

    fn sample(&mut self, offset: u64, line: &[u8]) -> Option<Sample> {
        let number = self.seen;
        self.seen += 1;
        let mut sample = match line::sample(number.to_string(), line) {
            Ok(sample) => sample,
            Err(reason) => {
                self.skip(number, offset, &reason);
                return None;
            }
        };
        if let Some(session) = &sample.session {
            let turns = self.turns.entry(session.clone()).or_default();
            sample.turn = Some(*turns);
            *turns += 1;
        }
        sample.output_tokens = self.output_len.or(sample.output_tokens);
        Some(sample)
    }

    fn skip(&mut self, number: u64, offset: u64, reason: &str) {
        let note = self.skipped.get_or_insert_with(|| Note {
            code: "skipped-line".to_owned(),
            message: format!("line is not usable; the first is line {} (blank ones not counted): {reason}", number + 1),
            count: 0,
            offset: Some(offset),
        });
        note.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines in memory; each starts ten bytes after the one before.
    struct Memory(Vec<&'static str>, usize);

    impl Lines for Memory {
        fn next(&mut self, max: u32, _: u32) -> Result<Batch, Error> {
            let lines: Vec<&str> = self.0.iter().skip(self.1).take(max as usize).copied().collect();
            let mut batch = Batch { bytes: Vec::new(), ends: Vec::new(), offsets: Vec::new() };
            for line in lines {
                batch.bytes.extend_from_slice(line.as_bytes());
                batch.ends.push(batch.bytes.len() as u32);
                batch.offsets.push(self.1 as u64 * 10);
                self.1 += 1;
            }
            Ok(batch)
        }
    }

    const LINES: [&str; 6] = [
        r#"{"prompt": "a", "session": "s", "output_tokens": 5}"#,
        "nonsense",
        r#"{"prompt": "b", "session": "t"}"#,
        "{}",
        r#"{"prompt": "c", "session": "s"}"#,
        r#"{"prompt": "d"}"#,
    ];

    fn all(reader: &mut LineReader<Memory>, max: u32) -> Vec<(String, Option<u32>, Option<u32>)> {
        let mut out = Vec::new();
        loop {
            let samples = reader.next(max).unwrap();
            if samples.is_empty() {
                return out;
            }
            out.extend(samples.into_iter().map(|s| (s.id, s.turn, s.output_tokens)));
        }
    }

    #[test]
    fn yields_lines_in_order_and_notes_bad_ones() {
        let expected = [("0", Some(0), Some(5)), ("2", Some(0), None), ("4", Some(1), None), ("5", None, None)];
        let expected = expected.map(|(id, turn, output)| (id.to_owned(), turn, output));
        for max in [1, 3, 100] {
            let mut reader = LineReader::new(Memory(LINES.to_vec(), 0), None, 100);
            assert_eq!(all(&mut reader, max), expected);
            let notes = reader.notes();
            assert_eq!((notes.len(), notes[0].count, notes[0].offset), (1, 2, Some(10)));
            assert!(notes[0].message.contains("line 2 "), "{}", notes[0].message);
        }
    }

    #[test]
    fn stops_at_the_number_wanted_and_overrides_lengths() {
        let mut reader = LineReader::new(Memory(LINES.to_vec(), 0), Some(9), 2);
        let samples = all(&mut reader, 100);
        assert_eq!(samples.iter().map(|s| (s.0.as_str(), s.2)).collect::<Vec<_>>(), [("0", Some(9)), ("2", Some(9))]);
        assert_eq!(reader.notes()[0].count, 1);
    }
}
