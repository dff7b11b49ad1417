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
