//! Writes the trace on a thread of its own while the run goes on.

use crate::error::TraceError;
use crate::journal::{Frame, Journal};
use crate::part::{Part, merge};
use crate::queue::{Popped, Queue};
use crate::recover::run_json;
use crate::row::record_bytes;
use crate::run_dir::{REQUESTS, RunDir, Spool};
use crate::run_info::{RunInfo, RunState};
use bench_core::record::RequestRecord;
use parquet::errors::ParquetError;
use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long the writer's thread waits for more records once there are some: waking it for each of them would cost
/// more than writing them does.
const LINGER: Duration = Duration::from_millis(20);

/// Bounds of the writer's memory and of what a kill can lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterConfig {
    /// A row waits at most about this long before it is in the journal.
    pub flush_every: Duration,
    /// Most bytes of records that wait for the writer; `send` waits for room.
    pub queue_bytes: usize,
    /// Rows that go to the journal together, at most.
    pub batch_rows: usize,
    /// Bytes that go to the journal together, at most (a single row may have more).
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
            text: info.text,
            frame: Frame::new(info.text),
            oldest: None,
            part: None,
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
    /// With the columns of texts.
    text: bool,
    /// Rows that are not yet in the journal.
    frame: Frame,
    /// When the oldest of them came.
    oldest: Option<Instant>,
    /// The rows since the last part, encoded; made for the first row.
    part: Option<Part>,
    segment: Option<Segment>,
    parts: Vec<PathBuf>,
    /// Nothing can be written any more.
    dead: bool,
}

/// The journal of rows that become one row group.
struct Segment {
    number: u32,
    journal: Journal,
}

impl Work {
    /// The parts of the trace; `None` where not all rows that were journaled are in them.
    fn run(mut self) -> Option<Vec<PathBuf>> {
        let mut records = VecDeque::new();
        loop {
            let wait = self.oldest.map(|t| self.config.flush_every.saturating_sub(t.elapsed()));
            let linger = LINGER.min(wait.unwrap_or(LINGER));
            if self.shared.queue.pop_all(wait, linger, &mut records) == Popped::Closed {
                break;
            }
            let came = Instant::now();
            for record in records.drain(..) {
                self.take(&record, came);
            }
            if self.oldest.is_some_and(|t| t.elapsed() >= self.config.flush_every) {
                self.guarded(Work::flush);
            }
        }
        self.guarded(Work::flush);
        self.guarded(Work::end_trace);
        (!self.dead).then_some(self.parts)
    }

    fn take(&mut self, record: &RequestRecord, came: Instant) {
        if self.dead {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if let Err(error) = self.frame.push(record) {
            self.shared.fail(error, 1);
            return;
        }
        self.oldest.get_or_insert(came);
        self.guarded(|work| work.encode(record));
        if self.frame.rows() >= self.config.batch_rows || self.frame.bytes() >= self.config.batch_bytes {
            self.guarded(Work::flush);
        }
    }

    /// Does a step unless an earlier one failed.
    fn guarded(&mut self, step: impl FnOnce(&mut Work) -> Result<(), TraceError>) {
        if self.dead {
            return;
        }
        let waiting = self.frame.rows();
        let written = self.shared.written.load(Ordering::Relaxed);
        if let Err(error) = step(self) {
            self.dead = true;
            let saved = self.shared.written.load(Ordering::Relaxed) - written;
            self.shared.fail(error, waiting.saturating_sub(saved as usize));
        }
    }

    fn encode(&mut self, record: &RequestRecord) -> Result<(), TraceError> {
        self.part()?.push(record).map_err(|error| self.encoding_failed(error))
    }

    fn part(&mut self) -> Result<&mut Part, TraceError> {
        if self.part.is_none() {
            self.part = Some(Part::new(self.text).map_err(|error| self.encoding_failed(error))?);
        }
        self.part.as_mut().ok_or(TraceError::WriterGone)
    }

    fn encoding_failed(&self, error: ParquetError) -> TraceError {
        TraceError::parquet("write", &self.spool.unfinished_part())(error)
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        self.oldest = None;
        let rows = self.frame.rows();
        if rows == 0 {
            return Ok(());
        }
        let segment = match &mut self.segment {
            Some(segment) => segment,
            none => {
                // A number that 32 bits don't hold would take 10^13 requests.
                let number = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
                none.insert(Segment { number, journal: Journal::create(self.spool.journal(number), &self.frame)? })
            }
        };
        segment.journal.write(&mut self.frame)?;
        self.shared.written.fetch_add(rows as u64, Ordering::Release);
        let WriterConfig { row_group_rows, row_group_bytes, .. } = self.config;
        let full = |part: &Part| part.rows() >= row_group_rows || part.memory() >= row_group_bytes;
        if self.part.as_ref().is_some_and(full) { self.end_segment() } else { Ok(()) }
    }

    /// Writes the rows since the last part as a part; then their journal is of no more use.
    fn end_segment(&mut self) -> Result<(), TraceError> {
        let Some(Segment { number, journal }) = self.segment.take() else { return Ok(()) };
        self.write_part(number)?;
        fs::remove_file(journal.path()).map_err(TraceError::io("remove", journal.path()))
    }

    fn write_part(&mut self, number: u32) -> Result<(), TraceError> {
        let spool = self.spool.clone();
        let place = self.part()?.write(&spool, number)?;
        self.parts.push(place);
        Ok(())
    }

    fn end_trace(&mut self) -> Result<(), TraceError> {
        self.end_segment()?;
        // A trace without rows has its columns all the same.
        if self.parts.is_empty() { self.write_part(0) } else { Ok(()) }
    }
}
