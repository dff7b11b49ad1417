//! What can go wrong with a trace.

use crate::version::VersionError;
use std::io;
use std::path::{Path, PathBuf};

/// What went wrong with a run directory or its trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The operating system refused something.
    #[error("could not {action} `{}`; check the folder's permissions and the free space", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The directory holds a run already.
    #[error("`{}` holds a run already; choose another folder, or move that run away", path.display())]
    HoldsRun {
        /// The directory.
        path: PathBuf,
    },
    /// Another process writes to the directory.
    #[error("a run is being written to `{}`; wait for its end, or choose another folder", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds no run.
    #[error("`{}` holds no run: it has no `{missing}`; give the folder that the run was written to", path.display())]
    NoRun {
        /// The directory.
        path: PathBuf,
        /// The file that is not there.
        missing: &'static str,
    },
    /// `run.json` is not what it should be.
    #[error("`{}` is not a description of a run; restore the file from `bench.run` in the trace's metadata", path.display())]
    Info {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },
    /// A Parquet file can't be written or read.
    #[error("could not {action} `{}` as Parquet; where it was copied, copy it again", path.display())]
    Parquet {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: parquet::errors::ParquetError,
    },
    /// A Parquet file is damaged in a way that its library does not expect.
    #[error("`{}` is damaged; where it was copied, copy it again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// A journal has another form than this version of bench-host writes.
    #[error(
        "`{}` is the journal of another version of bench-host; report the run with the version that wrote it \
         (`bench_host` in its `run.json`)", path.display()
    )]
    Journal {
        /// The file.
        path: PathBuf,
    },
    /// A batch of rows can't be read.
    #[error("could not {action} `{}`", path.display())]
    Arrow {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: arrow::error::ArrowError,
    },
    /// The file's format is not ours.
    #[error("can't read `{}`", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: VersionError,
    },
    /// A record can't become a row.
    #[error(
        "request {request}, attempt {attempt}, can't be a row of the trace: {reason}; this is a fault of bench-host"
    )]
    Record {
        /// Its number.
        request: u64,
        /// Its attempt.
        attempt: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// A row can't become a record.
    #[error("row {row} of `{}`, column `{column}`: {reason}; the file was changed or damaged", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// Number of the row, from 0.
        row: u64,
        /// The column.
        column: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A column that must be there is not.
    #[error("`{}` has no column `{column}` of type {expected}; it is no trace of requests", path.display())]
    MissingColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// The type that it should have.
        expected: String,
    },
    /// The writer's thread panicked.
    #[error("the trace's writer ended early; `bench-host report` on the folder reads the rows that it wrote")]
    WriterGone,
}

impl TraceError {
    /// Makes an error of the operating system into ours.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> TraceError {
        let path = path.to_owned();
        move |source| TraceError::Io { action, path, source }
    }

    /// Makes an error of the Parquet library into ours.
    pub(crate) fn parquet(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(parquet::errors::ParquetError) -> TraceError {
        let path = path.to_owned();
        move |source| TraceError::Parquet { action, path, source }
    }

    /// Makes an error of the Arrow library into ours.
    pub(crate) fn arrow(action: &'static str, path: &Path) -> impl FnOnce(arrow::error::ArrowError) -> TraceError {
        let path = path.to_owned();
        move |source| TraceError::Arrow { action, path, source }
    }
}
