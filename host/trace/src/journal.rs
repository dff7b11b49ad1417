//! The journal: rows as an Arrow IPC stream, handed to the kernel batch by batch, so that they outlive this
//! process however it ends.

use crate::error::TraceError;
use arrow::datatypes::Schema;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use arrow::record_batch::RecordBatch;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A journal that is being written.
pub(crate) struct Journal {
    writer: StreamWriter<BufWriter<File>>,
    path: PathBuf,
}

impl Journal {
    /// Starts one.
    pub(crate) fn create(path: PathBuf, schema: &Schema) -> Result<Journal, TraceError> {
        let file = File::create(&path).map_err(TraceError::io("make", &path))?;
        let writer =
            StreamWriter::try_new_buffered(file, schema).map_err(TraceError::arrow("write the journal", &path))?;
        Ok(Journal { writer, path })
    }

    /// Hands a batch to the kernel.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), TraceError> {
        let written = self.writer.write(batch).and_then(|()| self.writer.flush());
        written.map_err(TraceError::arrow("write the journal", &self.path))
    }
}

/// Reads the whole batches of a journal, wherever it was cut, and returns the number of bytes after them.
pub(crate) fn replay(
    path: &Path,
    mut take: impl FnMut(&RecordBatch) -> Result<(), TraceError>,
) -> Result<u64, TraceError> {
    let file = File::open(path).map_err(TraceError::io("open", path))?;
    let length = file.metadata().map_err(TraceError::io("look at", path))?.len();
    let position = Rc::new(Cell::new(0));
    let counted = Counted { inner: BufReader::new(file), position: Rc::clone(&position) };
    // A journal that was cut before its first batch has no rows.
    let Ok(reader) = StreamReader::try_new(counted, None) else { return Ok(length) };
    let mut whole = position.get();
    for batch in reader {
        let Ok(batch) = batch else { break };
        take(&batch)?;
        whole = position.get();
    }
    Ok(length.saturating_sub(whole))
}

/// Counts the bytes that were read.
struct Counted<R> {
    inner: R,
    position: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.position.set(self.position.get() + read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::BatchBuilder;
    use arrow::array::{ArrayRef, BinaryArray, Int64Array};
    use arrow::datatypes::{DataType, Field};
    use std::fs;
    use std::sync::Arc;

    /// Few columns, so that a cut at every byte is quick.
    fn batch(values: &[i64]) -> RecordBatch {
        let schema = Schema::new(vec![
            Field::new("number", DataType::Int64, false),
            Field::new("bytes", DataType::Binary, true),
        ]);
        let bytes: BinaryArray = values.iter().map(|v| (v % 2 == 0).then(|| vec![0xff; *v as usize])).collect();
        let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(values.to_vec())), Arc::new(bytes)];
        RecordBatch::try_new(Arc::new(schema), columns).unwrap()
    }

    #[test]
    fn a_journal_cut_at_any_byte_gives_its_whole_batches() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let batches = [batch(&[1, 2, 3]), batch(&[4]), batch(&[10, 11, 12, 13])];
        let mut journal = Journal::create(path.clone(), &batches[0].schema()).unwrap();
        let mut ends = Vec::new();
        for batch in &batches {
            journal.write(batch).unwrap();
            ends.push(fs::metadata(&path).unwrap().len());
        }
        let whole = fs::read(&path).unwrap();
        for cut in 0..=whole.len() as u64 {
            fs::write(&path, &whole[..cut as usize]).unwrap();
            let mut read = Vec::new();
            let lost = replay(&path, |batch| {
                read.push(batch.clone());
                Ok(())
            })
            .unwrap();
            let before = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(read, batches[..before], "cut at {cut}");
            if let Some(end) = ends[..before].last() {
                assert_eq!(lost, cut - end, "cut at {cut}");
            }
        }
    }

    #[test]
    fn the_words_of_kinds_are_written_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let mut builder = BatchBuilder::new(false);
        let mut journal = Journal::create(path.clone(), builder.schema()).unwrap();
        for _ in 0..3 {
            journal.write(&builder.finish().unwrap()).unwrap();
        }
        let bytes = fs::read(&path).unwrap();
        let words = b"roletextreasoning";
        assert_eq!(bytes.windows(words.len()).filter(|w| w == words).count(), 1);
    }
}
