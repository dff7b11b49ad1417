//! What goes wrong is said, and never stops the load.

use crate::common::{Random, finished, info};
use bench_core::record::{Events, RequestRecord};
use bench_trace::{RunDir, RunState, Trace, TraceError, TraceWriter, WriterConfig};
use std::error::Error;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const CONFIG: WriterConfig = WriterConfig {
    flush_every: std::time::Duration::from_secs(3600),
    queue_bytes: 10_000,
    batch_rows: 10,
    batch_bytes: 1 << 20,
    row_group_rows: 50,
    row_group_bytes: 1 << 20,
};

fn record(i: u64) -> RequestRecord {
    Random(i).realistic(i, 5)
}

/// A run whose file `file` of the journal's folder lies on a full disk; 1000 rows are sent.
fn run_on_full_disk(dir: &Path, file: &str) -> (RunDir, TraceError) {
    let run = RunDir::create(dir).unwrap();
    let writer = TraceWriter::start(&run, &info(false), CONFIG).unwrap();
    symlink("/dev/full", dir.join(".journal").join(file)).unwrap();
    let sender = writer.sender();
    (0..1_000).for_each(|i| sender.send(record(i)).unwrap());
    while writer.progress().error.is_none() {
        std::thread::yield_now();
    }
    let error = writer.finish(&finished(false)).unwrap_err();
    (run, error)
}

fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

#[test]
fn a_full_disk_under_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let (run, error) = run_on_full_disk(dir.path(), "000000.journal");
    let text = causes(&error);
    assert!(text.contains("000000.journal") && text.contains("No space left on device"), "{text}");
    drop(run);
    fs::remove_file(dir.path().join(".journal/000000.journal")).unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    assert!(
        matches!(&trace.info().state, RunState::Failed(why) if why.contains("journal")),
        "{:?}",
        trace.info().state
    );
    assert_eq!(trace.rows(), 0);
}

#[test]
fn a_full_disk_under_the_parts_leaves_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let (run, error) = run_on_full_disk(dir.path(), "part.tmp");
    assert!(causes(&error).contains("No space left on device"), "{}", causes(&error));
    drop(run);
    fs::remove_file(dir.path().join(".journal/part.tmp")).unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    let records: Vec<_> = trace.records().map(Result::unwrap).collect();
    assert_eq!(records, (0..50).map(record).collect::<Vec<_>>());
    assert_eq!(trace.info().recovery.unwrap().rows, 50);
}

#[test]
fn a_full_disk_at_the_end_leaves_the_parts() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunDir::create(dir.path()).unwrap();
    let writer = TraceWriter::start(&run, &info(false), CONFIG).unwrap();
    symlink("/dev/full", dir.path().join(".journal/requests.tmp")).unwrap();
    (0..120).for_each(|i| writer.sender().send(record(i)).unwrap());
    let error = writer.finish(&finished(false)).unwrap_err();
    assert!(causes(&error).contains("No space left on device"), "{}", causes(&error));
    assert!(!dir.path().join("requests.parquet").exists());
    drop(run);
    fs::remove_file(dir.path().join(".journal/requests.tmp")).unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    assert!(matches!(trace.info().state, RunState::Failed(_)));
    assert_eq!(trace.records().map(Result::unwrap).collect::<Vec<_>>(), (0..120).map(record).collect::<Vec<_>>());
}

#[test]
fn rows_that_cannot_be_are_counted_and_the_others_written() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunDir::create(dir.path()).unwrap();
    let writer = TraceWriter::start(&run, &info(false), CONFIG).unwrap();
    let sender = writer.sender();
    let good = record(0);
    sender.send(good.clone()).unwrap();
    sender.send(RequestRecord { bytes_sent: 1 << 63, request: 77, ..record(1) }).unwrap();
    let uneven = Events { gap_us: vec![1, 2], ..Events::default() };
    sender.send(RequestRecord { events: Some(uneven), ..record(2) }).unwrap();
    let tokens = Events { tokens: Some(vec![1]), ..Events::default() };
    sender.send(RequestRecord { events: Some(tokens), ..record(3) }).unwrap();
    sender.send(good.clone()).unwrap();
    while writer.progress().lost < 3 {
        std::thread::yield_now();
    }
    let error = writer.finish(&finished(false)).unwrap_err();
    assert!(
        matches!(&error, TraceError::Record { request: 77, reason, .. } if reason.contains("bytes_sent")),
        "{error}"
    );
    let trace = Trace::open(dir.path()).unwrap();
    assert_eq!(trace.records().map(Result::unwrap).collect::<Vec<_>>(), [good.clone(), good]);
    assert_eq!(trace.info(), &finished(false));
}

#[test]
fn damaged_files_are_errors_that_name_them() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunDir::create(dir.path()).unwrap();
    let writer = TraceWriter::start(&run, &info(false), CONFIG).unwrap();
    (0..200).for_each(|i| writer.sender().send(record(i)).unwrap());
    writer.finish(&finished(false)).unwrap();
    let (parquet, json) = (dir.path().join("requests.parquet"), dir.path().join("run.json"));
    let whole = fs::read(&parquet).unwrap();
    for bytes in [&b""[..], b"PAR1", &whole[..whole.len() / 2], &whole[..whole.len() - 1]] {
        fs::write(&parquet, bytes).unwrap();
        let error = Trace::open(dir.path()).unwrap_err();
        assert!(matches!(&error, TraceError::Parquet { path, .. } if *path == parquet), "{error}");
    }
    // Damage within the pages: an error or other values, but never a panic.
    for at in (4..whole.len() - 8).step_by(509) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        fs::write(&parquet, &damaged).unwrap();
        if let Ok(trace) = Trace::open(dir.path()) {
            assert!(trace.records().take(1_000).count() <= 1_000);
        }
    }
    fs::write(&parquet, &whole).unwrap();
    let text = fs::read_to_string(&json).unwrap();
    fs::write(&json, &text[..text.len() / 2]).unwrap();
    assert!(matches!(Trace::open(dir.path()), Err(TraceError::Info { .. })));
    fs::write(&json, text.replace("\"format\": \"1.1\"", "\"format\": \"2.0\"")).unwrap();
    let error = Trace::open(dir.path()).unwrap_err();
    assert!(matches!(error, TraceError::Version { .. }) && causes(&error).contains("2.0"), "{}", causes(&error));
    fs::write(&json, &text).unwrap();
    fs::remove_file(&parquet).unwrap();
    assert!(matches!(Trace::open(dir.path()), Err(TraceError::NoRun { missing: "requests.parquet", .. })));
}
