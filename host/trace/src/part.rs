//! Parts: Parquet files of one row group, and the trace that is put together from them.

use crate::chunk::{Chunk, Press};
use crate::error::TraceError;
use crate::run_dir::{Spool, rename_durably};
use crate::schema::{FORMAT_KEY, RUN_KEY, arrow_schema, columns, parquet_properties};
use bench_core::record::RequestRecord;
use parquet::arrow::ArrowSchemaConverter;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, TypePtr};
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A part that is being made: one row group, encoded in memory. Once it is written the next one begins, in the same
/// memory.
pub(crate) struct Part {
    root: TypePtr,
    chunks: Vec<Chunk>,
    press: Press,
    rows: usize,
}

impl Part {
    /// An empty one, with or without the columns of texts.
    pub(crate) fn new(text: bool) -> Result<Part, ParquetError> {
        let types = ArrowSchemaConverter::new().convert(&arrow_schema(text))?;
        let chunk = |(column, descriptor): (_, &ColumnDescPtr)| Chunk::new(column, Arc::clone(descriptor));
        let chunks = columns(text).zip(types.columns()).map(chunk).collect::<Result<_, _>>()?;
        Ok(Part { root: types.root_schema_ptr(), chunks, press: Press::new()?, rows: 0 })
    }

    /// Adds a row. The record must be one that the journal takes.
    pub(crate) fn push(&mut self, record: &RequestRecord) -> Result<(), ParquetError> {
        for chunk in &mut self.chunks {
            chunk.push(record, &mut self.press)?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Rows in it.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes that its rows take in memory.
    pub(crate) fn memory(&self) -> usize {
        self.chunks.iter().map(Chunk::memory).sum()
    }

    /// Writes it as the part of a segment; it is empty again. It may be lost with the machine, but not with this
    /// process.
    pub(crate) fn write(&mut self, spool: &Spool, segment: u32) -> Result<PathBuf, TraceError> {
        let (unfinished, place) = (spool.unfinished_part(), spool.part(segment));
        let file = File::create(&unfinished).map_err(TraceError::io("make", &unfinished))?;
        self.write_to(file).map_err(TraceError::parquet("write", &unfinished))?;
        fs::rename(&unfinished, &place).map_err(TraceError::io("make", &place))?;
        Ok(place)
    }

    fn write_to(&mut self, file: File) -> Result<(), ParquetError> {
        let mut file = SerializedFileWriter::new(file, Arc::clone(&self.root), Arc::new(parquet_properties()))?;
        if self.rows > 0 {
            let mut group = file.next_row_group()?;
            for chunk in &mut self.chunks {
                chunk.append_to(&mut group, &mut self.press)?;
            }
            group.close()?;
        }
        self.rows = 0;
        file.close().map(drop)
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
    let mut writer = writer.ok_or_else(|| write(ParquetError::General("no parts".into())))?;
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
