//! When the server sent what: its log, one JSON object a line.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

/// One request as the server saw it. Times are ns of the monotonic clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// The request's `x-request-id`; empty where it had none.
    pub id: String,
    /// When its last byte was read.
    pub received_ns: u64,
    /// For each chunk of its answer, just before the call that sent the chunk's last byte.
    pub sent_ns: Vec<u64>,
}

impl LogEntry {
    /// Writes a log.
    pub fn write_all(entries: &[LogEntry], path: &Path) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        for entry in entries {
            serde_json::to_writer(&mut file, entry)?;
            file.write_all(b"\n")?;
        }
        file.flush()
    }

    /// Reads a log.
    pub fn read_all(path: &Path) -> io::Result<Vec<LogEntry>> {
        BufReader::new(File::open(path)?).lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect()
    }

    /// Request and attempt, where the id ends with the two.
    pub fn request_and_attempt(&self) -> Option<(u64, u32)> {
        let mut parts = self.id.strip_prefix("bench-")?.rsplit('-');
        let attempt = parts.next()?.parse().ok()?;
        Some((parts.next()?.parse().ok()?, attempt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let entries = [
            LogEntry { id: "bench-1f-0-12-3".to_owned(), received_ns: 5, sent_ns: vec![7, 9] },
            LogEntry { id: "a \"b\"".to_owned(), received_ns: 6, sent_ns: vec![] },
        ];
        LogEntry::write_all(&entries, &path).unwrap();
        assert_eq!(LogEntry::read_all(&path).unwrap(), entries);
        assert_eq!(entries[0].request_and_attempt(), Some((12, 3)));
        assert_eq!(entries[1].request_and_attempt(), None);
        assert_eq!(LogEntry { id: "bench-0-x-1".to_owned(), ..entries[1].clone() }.request_and_attempt(), None);
    }
}
