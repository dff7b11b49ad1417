//! From what a killed run left to a trace.

use crate::error::TraceError;
use crate::journal::replay;
use crate::part::{Part, key_value, merge, metadata};
use crate::run_dir::{REQUESTS, RunDir, Spool, parse_info, read_info, request_files};
use crate::run_info::{RunInfo, RunState};
use crate::schema::RUN_KEY;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};

/// What was saved of a run that was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// Rows in the trace.
    pub rows: u64,
    /// Bytes at the journal's end that are no whole frame: the rows that were being written.
    pub lost_bytes: u64,
}

/// Puts the trace together where a run was killed before it did so itself. Does nothing to a run that is whole;
/// refuses one that goes on.
pub(crate) fn recover(path: &Path) -> Result<(), TraceError> {
    if !Spool::of(path).exists()? {
        return Ok(());
    }
    let dir = RunDir::lock(path)?;
    let spool = dir.spool();
    // It may have ended between the look and the lock.
    if !spool.exists()? {
        return Ok(());
    }
    match request_files(path)?.first() {
        // Killed while it cleaned up: the trace is whole.
        Some(file) => {
            if let Some(info) = embedded_info(file)? {
                dir.write_info(&info)?;
            }
        }
        None => rebuild(&dir, &spool)?,
    }
    spool.remove()
}

fn embedded_info(path: &Path) -> Result<Option<RunInfo>, TraceError> {
    let file = File::open(path).map_err(TraceError::io("open", path))?;
    let metadata = metadata(&file, path)?;
    key_value(&metadata, RUN_KEY).map(|json| parse_info(json.as_bytes(), path)).transpose()
}

fn rebuild(dir: &RunDir, spool: &Spool) -> Result<(), TraceError> {
    let mut info = read_info(dir.path())?;
    let (mut parts, recovery) = collect_parts(spool)?;
    if parts.is_empty() {
        parts.push(new_part(spool, info.text)?.write(spool, 0)?);
    }
    if info.state == RunState::Running {
        info.state = RunState::Killed;
    }
    info.recovery = Some(recovery);
    merge(&parts, run_json(&info, dir.path())?, &spool.unfinished_trace(), &dir.path().join(REQUESTS))?;
    dir.write_info(&info)
}

/// The parts of every segment; a segment that only has a journal gets its part from it.
fn collect_parts(spool: &Spool) -> Result<(Vec<PathBuf>, Recovery), TraceError> {
    let mut parts = Vec::new();
    let mut recovery = Recovery { rows: 0, lost_bytes: 0 };
    for segment in spool.segments()? {
        let place = spool.part(segment);
        // A journal beside its part holds the same rows once more.
        if place.try_exists().map_err(TraceError::io("look at", &place))? {
            let part = File::open(&place).map_err(TraceError::io("open", &place))?;
            recovery.rows += metadata(&part, &place)?.file_metadata().num_rows().max(0) as u64;
            parts.push(place);
            continue;
        }
        let mut part: Option<Part> = None;
        recovery.lost_bytes += replay(&spool.journal(segment), |record, journal| {
            let part = match &mut part {
                Some(part) => part,
                None => part.insert(new_part(spool, journal.text)?),
            };
            part.push(record).map_err(TraceError::parquet("write", &spool.unfinished_part()))
        })?;
        if let Some(mut part) = part {
            recovery.rows += part.rows() as u64;
            parts.push(part.write(spool, segment)?);
        }
    }
    Ok((parts, recovery))
}

fn new_part(spool: &Spool, text: bool) -> Result<Part, TraceError> {
    Part::new(text).map_err(TraceError::parquet("write", &spool.unfinished_part()))
}

/// A run's description as it stands in the trace's metadata.
pub(crate) fn run_json(info: &RunInfo, dir: &Path) -> Result<String, TraceError> {
    serde_json::to_string(info).map_err(|source| TraceError::Info { path: dir.to_owned(), source })
}
