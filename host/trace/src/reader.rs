//! Reads a trace, a batch of rows at a time.

use crate::decode::{self, Origin};
use crate::error::TraceError;
use crate::part;
use crate::recover::recover;
use crate::run_dir::{REQUESTS, check_format, read_info, request_files};
use crate::run_info::RunInfo;
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use bench_core::record::RequestRecord;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that are in memory at once.
const BATCH_ROWS: usize = 512;

/// The trace of a run.
#[derive(Clone, Debug)]
pub struct Trace {
    dir: PathBuf,
    info: RunInfo,
    files: Vec<PathBuf>,
    rows: u64,
}

impl Trace {
    /// Opens the trace of a run directory. Where the run was killed, its trace is put together from the journal
    /// first, and [`RunInfo::recovery`] says what was lost. A run that goes on is refused.
    pub fn open(dir: &Path) -> Result<Trace, TraceError> {
        recover(dir)?;
        let info = read_info(dir)?;
        let files = request_files(dir)?;
        if files.is_empty() {
            return Err(TraceError::NoRun { path: dir.to_owned(), missing: REQUESTS });
        }
        let mut rows = 0;
        for path in &files {
            let file = File::open(path).map_err(TraceError::io("open", path))?;
            let metadata = part::metadata(&file, path)?;
            check_format(part::format(&metadata), path)?;
            rows += metadata.file_metadata().num_rows().max(0) as u64;
        }
        Ok(Trace { dir: dir.to_owned(), info, files, rows })
    }

    /// The run directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What is known of the run.
    pub const fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Number of rows: request attempts of every phase.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Every row, in the order in which the attempts were over. Can be called as often as wanted.
    pub fn records(&self) -> Records<'_> {
        Records { batches: self.read(None, true), ready: Vec::new().into_iter() }
    }

    /// Every row in the same order, but only some of its columns: the rest of a record is null, and holds nothing
    /// where it can't be.
    pub fn records_of(&self, columns: &[&'static str]) -> Records<'_> {
        Records { batches: self.read(Some(columns.to_vec()), true), ready: Vec::new().into_iter() }
    }

    /// Some columns of every row, in the order of the file.
    pub fn batches(&self, columns: &[&'static str]) -> Batches<'_> {
        self.read(Some(columns.to_vec()), false)
    }

    fn read(&self, columns: Option<Vec<&'static str>>, records: bool) -> Batches<'_> {
        Batches { files: self.files.iter(), columns, records, open: None }
    }
}

/// Rows of a trace, column-wise.
pub struct Batches<'a> {
    files: std::slice::Iter<'a, PathBuf>,
    columns: Option<Vec<&'static str>>,
    /// They become records.
    records: bool,
    open: Option<OpenFile<'a>>,
}

struct OpenFile<'a> {
    path: &'a Path,
    reader: ParquetRecordBatchReader,
    rows: u64,
}

impl<'a> Batches<'a> {
    fn open(&self, path: &'a Path) -> Result<OpenFile<'a>, TraceError> {
        let file = File::open(path).map_err(TraceError::io("open", path))?;
        let read = |error| TraceError::parquet("read", path)(error);
        // What another tool wrote in as the Arrow schema must not change the types.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let mut metadata = ArrowReaderMetadata::load(&file, options.clone()).map_err(read)?;
        if self.records {
            let options = options.with_schema(kinds_by_dictionary(metadata.schema()));
            metadata = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).map_err(read)?;
        }
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        if let Some(columns) = &self.columns {
            let mut roots = Vec::new();
            for column in columns {
                match builder.schema().index_of(column) {
                    Ok(root) => roots.push(root),
                    // A record may lack what can be null.
                    Err(_) if self.records => {}
                    Err(_) => {
                        let (path, column) = (path.to_owned(), (*column).to_owned());
                        return Err(TraceError::MissingColumn { path, column, expected: "any".to_owned() });
                    }
                }
            }
            let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
            builder = builder.with_projection(mask);
        }
        let reader = part::unless_damaged(path, || builder.with_batch_size(BATCH_ROWS).build())?.map_err(read)?;
        Ok(OpenFile { path, reader, rows: 0 })
    }

    /// The next batch and where it comes from.
    fn next_with_origin(&mut self) -> Option<Result<(RecordBatch, Origin<'a>), TraceError>> {
        loop {
            if let Some(open) = &mut self.open {
                let path = open.path;
                let next = part::unless_damaged(path, || open.reader.next());
                match next.and_then(|next| next.transpose().map_err(TraceError::arrow("read", path))) {
                    Ok(Some(batch)) => {
                        let origin = Origin { path, first_row: open.rows };
                        open.rows += batch.num_rows() as u64;
                        return Some(Ok((batch, origin)));
                    }
                    Ok(None) => self.open = None,
                    Err(error) => {
                        self.stop();
                        return Some(Err(error));
                    }
                }
            }
            let path = self.files.next()?;
            match self.open(path) {
                Ok(open) => self.open = Some(open),
                Err(error) => {
                    self.stop();
                    return Some(Err(error));
                }
            }
        }
    }

    /// Nothing comes after an error.
    fn stop(&mut self) {
        self.files = [].iter();
        self.open = None;
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch, TraceError>;

    fn next(&mut self) -> Option<Result<RecordBatch, TraceError>> {
        self.next_with_origin().map(|next| next.map(|(batch, _)| batch))
    }
}

/// The schema with the words of `event_kind` as places in a dictionary: a word for each event would be the greatest part
/// of the work.
fn kinds_by_dictionary(schema: &Schema) -> SchemaRef {
    let replaced = |field: &FieldRef| match field.data_type() {
        DataType::List(element) if field.name() == "event_kind" && *element.data_type() == DataType::Utf8 => {
            let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
            let element = element.as_ref().clone().with_data_type(words);
            Arc::new(field.as_ref().clone().with_data_type(DataType::List(Arc::new(element))))
        }
        _ => Arc::clone(field),
    };
    let fields: Vec<FieldRef> = schema.fields().iter().map(replaced).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Rows of a trace, as records. Ends after the first error.
pub struct Records<'a> {
    batches: Batches<'a>,
    ready: std::vec::IntoIter<RequestRecord>,
}

impl Iterator for Records<'_> {
    type Item = Result<RequestRecord, TraceError>;

    fn next(&mut self) -> Option<Result<RequestRecord, TraceError>> {
        loop {
            if let Some(record) = self.ready.next() {
                return Some(Ok(record));
            }
            let batch = self.batches.next_with_origin()?;
            let asked = self.batches.columns.as_deref();
            match batch.and_then(|(batch, origin)| decode::records(&batch, asked, origin)) {
                Ok(records) => self.ready = records.into_iter(),
                Err(error) => {
                    self.batches.stop();
                    return Some(Err(error));
                }
            }
        }
    }
}
