//! Follows the log that a process writes.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Lines that are kept for messages.
const KEPT: usize = 20;
/// A line longer than this many bytes is taken in pieces.
const LONGEST: usize = 16 * 1024;

/// Reads what a log got since the last look.
pub(crate) struct LogTail {
    path: PathBuf,
    file: File,
    rest: Vec<u8>,
    last: VecDeque<String>,
}

impl LogTail {
    pub(crate) fn open(path: &Path) -> io::Result<LogTail> {
        Ok(LogTail { path: path.to_owned(), file: File::open(path)?, rest: Vec::new(), last: VecDeque::new() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The last lines seen, oldest first.
    pub(crate) fn last(&self) -> Vec<String> {
        self.last.iter().cloned().collect()
    }

    /// The newest line seen.
    pub(crate) fn newest(&self) -> Option<&str> {
        self.last.back().map(String::as_str)
    }

    /// Calls `each` with every whole line that came since the last look; with `end`, also with one that has no line
    /// end yet.
    pub(crate) fn look(&mut self, end: bool, mut each: impl FnMut(&str)) -> io::Result<()> {
        let mut buffer = [0_u8; 8192];
        loop {
            let n = self.file.read(&mut buffer)?;
            if n == 0 {
                break;
            }
            for byte in &buffer[..n] {
                if *byte == b'\n' || self.rest.len() >= LONGEST {
                    self.flush(&mut each);
                }
                if *byte != b'\n' {
                    self.rest.push(*byte);
                }
            }
        }
        if end && !self.rest.is_empty() {
            self.flush(&mut each);
        }
        Ok(())
    }

    fn flush(&mut self, each: &mut impl FnMut(&str)) {
        let bytes = std::mem::take(&mut self.rest);
        let text = String::from_utf8_lossy(&bytes);
        // Progress bars write over their line; what stands at the end is what a person would see.
        let line = text.trim_end_matches('\r');
        let line = line.rsplit('\r').next().unwrap_or(line);
        each(line);
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn lines_come_once_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        let mut file = File::create(&path).unwrap();
        let mut log = LogTail::open(&path).unwrap();
        let look = |log: &mut LogTail, end| {
            let mut lines = Vec::new();
            log.look(end, |line| lines.push(line.to_owned())).unwrap();
            lines
        };
        write!(file, "one\ntw").unwrap();
        assert_eq!(look(&mut log, false), ["one"]);
        write!(file, "o\r\n10%\r99%\rdone\nla\u{fffd}st").unwrap();
        assert_eq!(look(&mut log, false), ["two", "done"]);
        assert_eq!(look(&mut log, true), ["la\u{fffd}st"]);
        for i in 0..50 {
            writeln!(file, "line {i}").unwrap();
        }
        look(&mut log, false);
        assert_eq!(log.last().len(), KEPT);
        assert_eq!(log.newest(), Some("line 49"));
        file.write_all(&vec![b'x'; 3 * LONGEST]).unwrap();
        assert_eq!(look(&mut log, false).len(), 2);
    }
}
