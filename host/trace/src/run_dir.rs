//! The run directory: its files, and the lock that keeps two runs apart.

use crate::error::TraceError;
use crate::run_info::RunInfo;
use crate::version::FormatVersion;
use crate::version::VersionError;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The run's description.
pub(crate) const RUN_JSON: &str = "run.json";
/// The trace.
pub(crate) const REQUESTS: &str = "requests.parquet";
/// Folder of the journal; there only while a run goes on, and after it was killed.
const SPOOL: &str = ".journal";

/// A run directory that this process writes to. The directory itself is locked until the last clone is gone.
#[derive(Clone, Debug)]
pub struct RunDir {
    path: PathBuf,
    _lock: Arc<File>,
}

impl RunDir {
    /// Makes the directory where it is not there, and takes it for a new run. A directory that holds a run is
    /// refused; other files are left alone.
    pub fn create(path: &Path) -> Result<RunDir, TraceError> {
        fs::create_dir_all(path).map_err(TraceError::io("make the folder", path))?;
        let dir = RunDir::lock(path)?;
        let holds_run = exists(&path.join(RUN_JSON))? || exists(&path.join(SPOOL))? || !request_files(path)?.is_empty();
        if holds_run { Err(TraceError::HoldsRun { path: path.to_owned() }) } else { Ok(dir) }
    }

    /// Takes a directory that is there.
    pub(crate) fn lock(path: &Path) -> Result<RunDir, TraceError> {
        let lock = File::open(path).map_err(TraceError::io("open the folder", path))?;
        match lock.try_lock() {
            Ok(()) => Ok(RunDir { path: path.to_owned(), _lock: Arc::new(lock) }),
            Err(TryLockError::WouldBlock) => Err(TraceError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => Err(TraceError::io("lock the folder", path)(source)),
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `run.json`, whole or not at all.
    pub fn write_info(&self, info: &RunInfo) -> Result<(), TraceError> {
        let path = self.path.join(RUN_JSON);
        let mut json = serde_json::to_vec_pretty(info).map_err(|source| TraceError::Info { path, source })?;
        json.push(b'\n');
        self.write_file(RUN_JSON, &json)
    }

    /// Writes a file of the directory, whole or not at all: `summary.json` and the like.
    pub fn write_file(&self, name: &str, contents: &[u8]) -> Result<(), TraceError> {
        let path = self.path.join(name);
        let temporary = self.path.join(format!(".{name}.tmp"));
        let write = || {
            let mut file = File::create(&temporary)?;
            file.write_all(contents)?;
            file.sync_all()?;
            fs::rename(&temporary, &path)
        };
        write().map_err(TraceError::io("write", &path))
    }

    /// The journal's folder.
    pub(crate) fn spool(&self) -> Spool {
        Spool { dir: self.path.join(SPOOL) }
    }
}

/// The journal's folder. A segment is a journal while it is written, then a part.
#[derive(Clone, Debug)]
pub(crate) struct Spool {
    dir: PathBuf,
}

impl Spool {
    /// That of a run directory.
    pub(crate) fn of(run: &Path) -> Spool {
        Spool { dir: run.join(SPOOL) }
    }

    /// Whether it is there.
    pub(crate) fn exists(&self) -> Result<bool, TraceError> {
        exists(&self.dir)
    }

    /// Makes it.
    pub(crate) fn create(&self) -> Result<(), TraceError> {
        fs::create_dir_all(&self.dir).map_err(TraceError::io("make the folder", &self.dir))
    }

    /// Removes it with all that is in it.
    pub(crate) fn remove(&self) -> Result<(), TraceError> {
        fs::remove_dir_all(&self.dir).map_err(TraceError::io("remove the folder", &self.dir))
    }

    /// Rows of a segment as they come.
    pub(crate) fn journal(&self, segment: u32) -> PathBuf {
        self.dir.join(format!("{segment:06}.journal"))
    }

    /// Rows of a segment that is whole, as Parquet.
    pub(crate) fn part(&self, segment: u32) -> PathBuf {
        self.dir.join(format!("{segment:06}.part"))
    }

    /// A part that is being written.
    pub(crate) fn unfinished_part(&self) -> PathBuf {
        self.dir.join("part.tmp")
    }

    /// The trace, put together and not yet in its place.
    pub(crate) fn unfinished_trace(&self) -> PathBuf {
        self.dir.join("requests.tmp")
    }

    /// Numbers of the segments with a journal or a part, in order.
    pub(crate) fn segments(&self) -> Result<Vec<u32>, TraceError> {
        let mut segments: Vec<u32> = file_names(&self.dir)?
            .iter()
            .filter_map(|name| name.strip_suffix(".journal").or_else(|| name.strip_suffix(".part")))
            .filter_map(|number| number.parse().ok())
            .collect();
        segments.sort_unstable();
        segments.dedup();
        Ok(segments)
    }
}

/// The files that hold the rows of a run: all that match `requests*.parquet`, sorted by name.
pub(crate) fn request_files(dir: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let mut names = file_names(dir)?;
    names.retain(|name| name.starts_with("requests") && name.ends_with(".parquet"));
    names.sort();
    Ok(names.into_iter().map(|name| dir.join(name)).collect())
}

/// Reads `run.json`.
pub(crate) fn read_info(dir: &Path) -> Result<RunInfo, TraceError> {
    let path = dir.join(RUN_JSON);
    match fs::read(&path) {
        Ok(json) => parse_info(&json, &path),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Err(TraceError::NoRun { path: dir.to_owned(), missing: RUN_JSON })
        }
        Err(e) => Err(TraceError::io("read", &path)(e)),
    }
}

/// Reads a run's description; its version first, so that a newer one is told as such.
pub(crate) fn parse_info(json: &[u8], path: &Path) -> Result<RunInfo, TraceError> {
    let invalid = |source| TraceError::Info { path: path.to_owned(), source };
    let value: serde_json::Value = serde_json::from_slice(json).map_err(invalid)?;
    check_format(value["format"].as_str(), path)?;
    serde_json::from_value(value).map_err(invalid)
}

/// Whether the format that a file names can be read.
pub(crate) fn check_format(format: Option<&str>, path: &Path) -> Result<(), TraceError> {
    format
        .ok_or(VersionError::Absent)
        .and_then(str::parse::<FormatVersion>)
        .and_then(FormatVersion::check_readable)
        .map_err(|source| TraceError::Version { path: path.to_owned(), source })
}

/// Renames a file to its place, and makes sure that the directory keeps it.
pub(crate) fn rename_durably(from: &Path, to: &Path) -> Result<(), TraceError> {
    fs::rename(from, to).map_err(TraceError::io("make", to))?;
    let Some(dir) = to.parent() else { return Ok(()) };
    File::open(dir).and_then(|d| d.sync_all()).map_err(TraceError::io("write the folder", dir))
}

fn file_names(dir: &Path) -> Result<Vec<String>, TraceError> {
    let entries = fs::read_dir(dir).map_err(TraceError::io("list the folder", dir))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(TraceError::io("list the folder", dir))?;
        names.extend(entry.file_name().into_string().ok());
    }
    Ok(names)
}

fn exists(path: &Path) -> Result<bool, TraceError> {
    path.try_exists().map_err(TraceError::io("look at", path))
}
