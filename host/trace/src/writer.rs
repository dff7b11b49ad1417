//! Writes the trace on a thread of its own while the run goes on.

use crate::encode::{BatchBuilder, record_bytes};
use crate::error::TraceError;
use crate::journal::Journal;
use crate::part::{Part, merge};
use crate::queue::{Popped, Queue};
use crate::recover::run_json;
use crate::run_dir::{REQUESTS, RunDir, Spool};
use crate::run_info::{RunInfo, RunState};
use bench_core::record::RequestRecord;
use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Bounds of the writer's memory and of what a kill can lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterConfig {
    /// A row waits at most this long before it is in the journal.
    pub flush_every: Duration,
    /// Most bytes of records that wait for the writer; `send` waits for room.
    pub queue_bytes: usize,
    /// Rows of a batch of the journal, at most.
    pub batch_rows: usize,
    /// Bytes of a batch of the journal, at most (a single row may have more).
    pub batch_bytes: usize,
    /// Rows of a row group, at most (rounded up to whole batches).
    pub row_group_rows: usize,
    /// Bytes that a row group holds in memory until it is written.
    pub row_group_bytes: usize,
}

impl Default for WriterConfig {
    fn default() -> WriterConfig {
        WriterConfig {
            flush_every: Duration::from_millis(500),
            queue_bytes: 4 << 20,
            batch_rows: 500,
            batch_bytes: 2 << 20,
            row_group_rows: 20_000,
            row_group_bytes: 24 << 20,
        }
    }
}

/// Writes the trace of one run.
pub struct TraceWriter {
    dir: RunDir,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Option<Vec<PathBuf>>>>,
}

/// Hands records to the writer.
#[derive(Clone)]
pub struct TraceSender {
    shared: Arc<Shared>,
}

/// The trace is closed: it takes no more records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the trace is closed, and request {request}, attempt {attempt}, came too late for it")]
pub struct SendError {
    /// Number of the request that was not taken.
    pub request: u64,
    /// Its attempt.
    pub attempt: u32,
}

/// How far the writer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Rows that a kill can't lose any more.
    pub written: u64,
    /// Rows that could not be written.
    pub lost: u64,
    /// Why not.
    pub error: Option<String>,
}

/// The trace as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStats {
    /// Its rows.
    pub rows: u64,
    /// Its bytes.
    pub bytes: u64,
}

struct Shared {
    queue: Queue<RequestRecord>,
    written: AtomicU64,
    lost: AtomicU64,
    /// The first error.
    error: Mutex<Option<TraceError>>,
}

impl Shared {
    fn error(&self) -> MutexGuard<'_, Option<TraceError>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, error: TraceError, lost: usize) {
        self.lost.fetch_add(lost as u64, Ordering::Relaxed);
        self.error().get_or_insert(error);
    }
}

impl TraceWriter {
    /// Starts the trace of a run: writes `run.json`, and starts the thread.
    pub fn start(dir: &RunDir, info: &RunInfo, config: WriterConfig) -> Result<TraceWriter, TraceError> {
        let spool = dir.spool();
        dir.write_info(info)?;
        spool.create()?;
        let shared = Arc::new(Shared {
            queue: Queue::new(config.queue_bytes),
            written: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            error: Mutex::new(None),
        });
        let work = Work {
            shared: Arc::clone(&shared),
            spool,
            config,
            batch: BatchBuilder::new(info.text),
            oldest: None,
            segment: None,
            parts: Vec::new(),
            dead: false,
        };
        let thread = thread::Builder::new()
            .name("trace".to_owned())
            .spawn(|| work.run())
            .map_err(TraceError::io("start a thread for", dir.path()))?;
        Ok(TraceWriter { dir: dir.clone(), shared, thread: Some(thread) })
    }

    /// A way to hand records over; as many as wanted.
    pub fn sender(&self) -> TraceSender {
        TraceSender { shared: Arc::clone(&self.shared) }
    }

    /// How far it is. After an error the load may go on, but its rows are lost.
    pub fn progress(&self) -> Progress {
        Progress {
            written: self.shared.written.load(Ordering::Acquire),
            lost: self.shared.lost.load(Ordering::Relaxed),
            error: self.shared.error().as_ref().map(ToString::to_string),
        }
    }

    /// Takes no more records, writes the rest, puts `requests.parquet` in its place, and writes `run.json`. Where
    /// rows could not be written, all that could be is, and the first error is returned.
    pub fn finish(mut self, info: &RunInfo) -> Result<TraceStats, TraceError> {
        let parts = match self.stop() {
            Some(Ok(parts)) => parts,
            Some(Err(_)) | None => return Err(TraceError::WriterGone),
        };
        let mut first = self.shared.error().take();
        let written = match parts {
            Some(parts) => self.put_together(&parts, info),
            None => Err(first.take().unwrap_or(TraceError::WriterGone)),
        };
        if let Err(error) = &written {
            // What the journal's folder holds stays, and reading the trace puts it together. That this file can't be
            // written either would not be news.
            let state = RunState::Failed(format!("the trace could not be written: {error}"));
            let _ = self.dir.write_info(&RunInfo { state, ..info.clone() });
            return written;
        }
        match first {
            Some(error) => Err(error),
            None => written,
        }
    }

    fn put_together(&self, parts: &[PathBuf], info: &RunInfo) -> Result<TraceStats, TraceError> {
        let spool = self.dir.spool();
        let run = run_json(info, self.dir.path())?;
        let merged = merge(parts, run, &spool.unfinished_trace(), &self.dir.path().join(REQUESTS))?;
        self.dir.write_info(info)?;
        spool.remove()?;
        Ok(TraceStats { rows: merged.rows, bytes: merged.bytes })
    }

    fn stop(&mut self) -> Option<thread::Result<Option<Vec<PathBuf>>>> {
        self.shared.queue.close();
        self.thread.take().map(JoinHandle::join)
    }
}

/// Without [`TraceWriter::finish`] the journal keeps every row that was sent.
impl Drop for TraceWriter {
    fn drop(&mut self) {
        self.stop();
    }
}

impl TraceSender {
    /// Hands a record over. Waits while the writer is behind by more than its bound. After an error of the writer
    /// records are taken, counted as lost and dropped, so that the load goes on.
    pub fn send(&self, record: RequestRecord) -> Result<(), SendError> {
        let bytes = record_bytes(&record);
        let sent = self.shared.queue.push(record, bytes);
        sent.map_err(|record| SendError { request: record.request, attempt: record.attempt })
    }
}

/// The writer's thread.
struct Work {
    shared: Arc<Shared>,
    spool: Spool,
    config: WriterConfig,
    batch: BatchBuilder,
    /// When the oldest row of the batch came.
    oldest: Option<Instant>,
    segment: Option<Segment>,
    parts: Vec<PathBuf>,
    /// Nothing can be written any more.
    dead: bool,
}

/// Rows that become one row group: in the journal, and encoded beside it.
struct Segment {
    journal: Journal,
    journal_path: PathBuf,
    part: Part,
}

impl Segment {
    fn create(spool: &Spool, number: usize, batch: &BatchBuilder) -> Result<Segment, TraceError> {
        // A number that 32 bits don't hold would take 10^13 requests.
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let journal_path = spool.journal(number);
        Ok(Segment {
            journal: Journal::create(journal_path.clone(), batch.schema())?,
            journal_path,
            part: Part::create(spool, number, batch.schema())?,
        })
    }
}

impl Work {
    /// The parts of the trace; `None` where not all rows that were journaled are in them.
    fn run(mut self) -> Option<Vec<PathBuf>> {
        let mut records = VecDeque::new();
        loop {
            let wait = self.oldest.map(|t| self.config.flush_every.saturating_sub(t.elapsed()));
            if self.shared.queue.pop_all(wait, &mut records) == Popped::Closed {
                break;
            }
            for record in records.drain(..) {
                self.take(&record);
            }
            if self.oldest.is_some_and(|t| t.elapsed() >= self.config.flush_every) {
                self.guarded(Work::flush);
            }
        }
        self.guarded(Work::flush);
        self.guarded(Work::end_trace);
        (!self.dead).then_some(self.parts)
    }

    fn take(&mut self, record: &RequestRecord) {
        if self.dead {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if let Err(error) = self.batch.push(record) {
            self.shared.fail(error, 1);
            return;
        }
        let oldest = *self.oldest.get_or_insert_with(Instant::now);
        let full = self.batch.rows() >= self.config.batch_rows || self.batch.bytes() >= self.config.batch_bytes;
        if full || oldest.elapsed() >= self.config.flush_every {
            self.guarded(Work::flush);
        }
    }

    /// Does a step unless an earlier one failed.
    fn guarded(&mut self, step: fn(&mut Work) -> Result<(), TraceError>) {
        if self.dead {
            return;
        }
        let waiting = self.batch.rows();
        let written = self.shared.written.load(Ordering::Relaxed);
        if let Err(error) = step(self) {
            self.dead = true;
            let saved = self.shared.written.load(Ordering::Relaxed) - written;
            self.shared.fail(error, waiting.saturating_sub(saved as usize));
        }
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        self.oldest = None;
        if self.batch.rows() == 0 {
            return Ok(());
        }
        let segment = match &mut self.segment {
            Some(segment) => segment,
            None => self.segment.insert(Segment::create(&self.spool, self.parts.len(), &self.batch)?),
        };
        let rows = self.batch.rows();
        let batch = self.batch.finish().map_err(TraceError::arrow("make rows for", &segment.journal_path))?;
        segment.journal.write(&batch)?;
        self.shared.written.fetch_add(rows as u64, Ordering::Release);
        segment.part.write(&batch)?;
        if segment.part.rows() >= self.config.row_group_rows || segment.part.memory() >= self.config.row_group_bytes {
            self.end_segment()?;
        }
        Ok(())
    }

    fn end_segment(&mut self) -> Result<(), TraceError> {
        if let Some(segment) = self.segment.take() {
            self.parts.push(segment.part.close()?);
            fs::remove_file(&segment.journal_path).map_err(TraceError::io("remove", &segment.journal_path))?;
        }
        Ok(())
    }

    fn end_trace(&mut self) -> Result<(), TraceError> {
        // A trace without rows has its columns all the same.
        if self.segment.is_none() && self.parts.is_empty() {
            self.segment = Some(Segment::create(&self.spool, 0, &self.batch)?);
        }
        self.end_segment()
    }
}
