//! Parts: Parquet files of one row group, and the trace that is put together from them.

use crate::error::TraceError;
use crate::run_dir::{Spool, rename_durably};
use crate::schema::{FORMAT_KEY, RUN_KEY, parquet_properties};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::{KeyValue, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::writer::SerializedFileWriter;
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A part that is being written.
pub(crate) struct Part {
    writer: ArrowWriter<File>,
    unfinished: PathBuf,
    place: PathBuf,
    rows: usize,
}

impl Part {
    /// Starts the part of a segment.
    pub(crate) fn create(spool: &Spool, segment: u32, schema: &SchemaRef) -> Result<Part, TraceError> {
        let unfinished = spool.unfinished_part();
        let file = File::create(&unfinished).map_err(TraceError::io("make", &unfinished))?;
        // Without the Arrow schema in its metadata every reader sees the plain Parquet types.
        let options = ArrowWriterOptions::new().with_properties(parquet_properties()).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(file, Arc::clone(schema), options)
            .map_err(TraceError::parquet("write", &unfinished))?;
        Ok(Part { writer, unfinished, place: spool.part(segment), rows: 0 })
    }

    /// Encodes a batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), TraceError> {
        self.rows += batch.num_rows();
        self.writer.write(batch).map_err(TraceError::parquet("write", &self.unfinished))
    }

    /// Rows in it.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes that it holds in memory.
    pub(crate) fn memory(&self) -> usize {
        self.writer.memory_size()
    }

    /// Writes its end and gives it its name. It may be lost with the machine, but not with this process.
    pub(crate) fn close(self) -> Result<PathBuf, TraceError> {
        self.writer.close().map_err(TraceError::parquet("write", &self.unfinished))?;
        fs::rename(&self.unfinished, &self.place).map_err(TraceError::io("make", &self.place))?;
        Ok(self.place)
    }
}

/// The trace as it was put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merged {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

/// Puts the trace together from its parts by copying their encoded columns, and gives it its name. There must be
/// at least one part.
pub(crate) fn merge(parts: &[PathBuf], run: String, unfinished: &Path, place: &Path) -> Result<Merged, TraceError> {
    let write = |error| TraceError::parquet("write", unfinished)(error);
    let mut writer: Option<SerializedFileWriter<File>> = None;
    let mut rows = 0;
    for path in parts {
        let part = File::open(path).map_err(TraceError::io("open", path))?;
        let metadata = metadata(&part, path)?;
        let writer = match &mut writer {
            Some(writer) => writer,
            None => {
                let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
                let file = File::create(unfinished).map_err(TraceError::io("make", unfinished))?;
                let properties = Arc::new(parquet_properties());
                writer.insert(SerializedFileWriter::new(file, schema, properties).map_err(write)?)
            }
        };
        for group in metadata.row_groups() {
            let mut target = writer.next_row_group().map_err(write)?;
            for column in group.columns() {
                let chunk = ColumnCloseResult {
                    bytes_written: column.compressed_size().max(0) as u64,
                    rows_written: group.num_rows().max(0) as u64,
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                target.append_column(&part, chunk).map_err(write)?;
            }
            target.close().map_err(write)?;
            rows += group.num_rows().max(0) as u64;
        }
    }
    let mut writer = writer.ok_or_else(|| write(parquet::errors::ParquetError::General("no parts".into())))?;
    writer.append_key_value_metadata(KeyValue::new(RUN_KEY.to_owned(), run));
    let file = writer.into_inner().map_err(write)?;
    file.sync_all().map_err(TraceError::io("write", unfinished))?;
    let bytes = file.metadata().map_err(TraceError::io("look at", unfinished))?.len();
    rename_durably(unfinished, place)?;
    Ok(Merged { rows, bytes })
}

/// The metadata of a Parquet file.
pub(crate) fn metadata(file: &File, path: &Path) -> Result<ParquetMetaData, TraceError> {
    let read = || ParquetMetaDataReader::new().parse_and_finish(file);
    unless_damaged(path, read)?.map_err(TraceError::parquet("read", path))
}

/// Reads from a file whose bytes may be anything: the Parquet library panics on some of them. What `read` works on
/// must not be used again after an error.
pub(crate) fn unless_damaged<T>(path: &Path, read: impl FnOnce() -> T) -> Result<T, TraceError> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|_| TraceError::Damaged { path: path.to_owned() })
}

/// A value of a file's own metadata.
pub(crate) fn key_value<'a>(metadata: &'a ParquetMetaData, key: &str) -> Option<&'a str> {
    let pairs = metadata.file_metadata().key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
}

/// The version of the format that a file names.
pub(crate) fn format(metadata: &ParquetMetaData) -> Option<&str> {
    key_value(metadata, FORMAT_KEY)
}
