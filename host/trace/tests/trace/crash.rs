//! A run that is killed keeps what was handed over, and says what it lost.

use crate::common::{Random, finished, info};
use bench_core::record::RequestRecord;
use bench_trace::{Recovery, RunDir, RunState, Trace, TraceError, TraceWriter, WriterConfig};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Set for the process that is to be killed: where it writes its run.
const CHILD: &str = "BENCH_TRACE_TEST_CHILD";

/// Every batch is in the kernel's hands as soon as it is full.
const CONFIG: WriterConfig = WriterConfig {
    flush_every: Duration::from_secs(3600),
    queue_bytes: 1 << 20,
    batch_rows: 10,
    batch_bytes: 1 << 20,
    row_group_rows: 100,
    row_group_bytes: 1 << 20,
};

fn record(i: u64) -> RequestRecord {
    RequestRecord { request: i, ..Random(i).record(false) }
}

fn wait_until_written(writer: &TraceWriter, rows: u64) {
    while writer.progress().written < rows {
        assert_eq!(writer.progress().error, None);
        std::thread::yield_now();
    }
}

fn records(dir: &Path) -> Vec<RequestRecord> {
    Trace::open(dir).unwrap().records().map(Result::unwrap).collect()
}

fn expected(rows: u64) -> Vec<RequestRecord> {
    (0..rows).map(record).collect()
}

/// Copies what a run has on disk: what would be there if it were killed now.
fn snapshot(from: &Path, to: &Path) {
    fs::create_dir_all(to.join(".journal")).unwrap();
    for folder in [PathBuf::new(), PathBuf::from(".journal")] {
        for entry in fs::read_dir(from.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), to.join(&folder).join(entry.file_name())).unwrap();
            }
        }
    }
}

/// A run that was killed after `rows` rows, which must be whole batches.
fn killed_run(to: &Path, rows: u64) {
    let dir = tempfile::tempdir().unwrap();
    let run = RunDir::create(dir.path()).unwrap();
    let writer = TraceWriter::start(&run, &info(false), CONFIG).unwrap();
    let sender = writer.sender();
    (0..rows).for_each(|i| sender.send(record(i)).unwrap());
    wait_until_written(&writer, rows);
    snapshot(dir.path(), to);
}

#[test]
fn a_journal_cut_within_its_last_batch_keeps_the_batches_before() {
    let dir = tempfile::tempdir().unwrap();
    let (short, long) = (dir.path().join("20"), dir.path().join("30"));
    killed_run(&short, 20);
    killed_run(&long, 30);
    let journal = fs::read(long.join(".journal/000000.journal")).unwrap();
    let before = fs::metadata(short.join(".journal/000000.journal")).unwrap().len();
    let length = journal.len() as u64;
    assert!(before < length);
    // Every byte is cut at in `journal::tests`; here the whole way from a folder to a trace.
    let cuts =
        [0, 1, before - 1, before, before + 1, before + 4, before + 8, (before + length) / 2, length - 1, length];
    for cut in cuts {
        let run = dir.path().join(format!("cut-{cut}"));
        fs::create_dir_all(run.join(".journal")).unwrap();
        fs::copy(long.join("run.json"), run.join("run.json")).unwrap();
        fs::write(run.join(".journal/000000.journal"), &journal[..cut as usize]).unwrap();
        let trace = Trace::open(&run).unwrap();
        let recovery = trace.info().recovery.unwrap();
        assert_eq!(trace.info().state, RunState::Killed);
        assert_eq!(recovery.rows, trace.rows());
        if cut >= before {
            let rows = if cut == length { 30 } else { 20 };
            assert_eq!(records(&run), expected(rows), "cut at {cut}");
            assert_eq!(recovery.lost_bytes, if cut == length { 0 } else { cut - before });
        } else {
            assert!(trace.rows() < 20 && recovery.lost_bytes > 0 || cut == 0, "cut at {cut}");
        }
    }
}

#[test]
fn rows_of_parts_and_journal_come_once_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    killed_run(dir.path(), 250);
    let spool = dir.path().join(".journal");
    for part in ["000000.part", "000001.part", "000002.journal"] {
        assert!(spool.join(part).exists(), "{part}");
    }
    // Killed between the part's name and the journal's end; and while the next part began.
    fs::copy(spool.join("000002.journal"), spool.join("000001.journal")).unwrap();
    fs::write(spool.join("part.tmp"), "PAR1 and no more").unwrap();
    fs::write(spool.join("requests.tmp"), "PAR1 and no more").unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    assert_eq!(trace.info().recovery, Some(Recovery { rows: 250, lost_bytes: 0 }));
    assert_eq!(records(dir.path()), expected(250));
    assert!(!spool.exists());
    // Only once.
    let json = fs::read(dir.path().join("run.json")).unwrap();
    assert_eq!(Trace::open(dir.path()).unwrap().rows(), 250);
    assert_eq!(fs::read(dir.path().join("run.json")).unwrap(), json);
}

#[test]
fn a_run_killed_before_its_first_row_has_an_empty_trace() {
    let dir = tempfile::tempdir().unwrap();
    killed_run(dir.path(), 0);
    let trace = Trace::open(dir.path()).unwrap();
    assert_eq!((trace.rows(), &trace.info().state), (0, &RunState::Killed));
    assert_eq!(trace.records().count(), 0);
}

#[test]
fn a_run_killed_while_it_cleaned_up_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (left, whole) = (dir.path().join("left"), dir.path().join("whole"));
    killed_run(&left, 30);
    let run = RunDir::create(&whole).unwrap();
    let writer = TraceWriter::start(&run, &info(false), CONFIG).unwrap();
    (0..30).for_each(|i| writer.sender().send(record(i)).unwrap());
    writer.finish(&finished(false)).unwrap();
    fs::copy(whole.join("requests.parquet"), left.join("requests.parquet")).unwrap();
    let trace = Trace::open(&left).unwrap();
    assert_eq!(trace.info(), &finished(false));
    assert_eq!(records(&left), expected(30));
    assert!(!left.join(".journal").exists());
}

#[test]
fn a_writer_that_is_dropped_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunDir::create(dir.path()).unwrap();
    let writer = TraceWriter::start(&run, &info(false), CONFIG).unwrap();
    (0..123).for_each(|i| writer.sender().send(record(i)).unwrap());
    drop(writer);
    assert!(matches!(Trace::open(dir.path()), Err(TraceError::Locked { .. })));
    drop(run);
    assert_eq!(records(dir.path()), expected(123));
}

#[test]
fn a_lone_row_does_not_wait_for_others() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunDir::create(dir.path()).unwrap();
    let config = WriterConfig::default();
    assert!(config.flush_every < Duration::from_secs(2) && config.batch_rows > 1);
    let writer = TraceWriter::start(&run, &info(false), config).unwrap();
    writer.sender().send(record(0)).unwrap();
    // Nothing else comes, so only its age can bring it to the journal; without that this would never end.
    wait_until_written(&writer, 1);
    let copy = tempfile::tempdir().unwrap();
    snapshot(dir.path(), copy.path());
    assert_eq!(records(copy.path()), expected(1));
}

/// Starts this test binary once more to run `test` alone, with `dir` as its run directory.
fn child(test: &str, dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([&format!("crash::{test}"), "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(CHILD, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "the process that `a_process_that_aborts_keeps_its_rows` starts"]
fn aborting_process() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let run = RunDir::create(Path::new(&dir)).unwrap();
    let writer = TraceWriter::start(&run, &info(false), CONFIG).unwrap();
    (0..250).for_each(|i| writer.sender().send(record(i)).unwrap());
    wait_until_written(&writer, 250);
    std::process::abort();
}

#[test]
fn a_process_that_aborts_keeps_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let status = child("aborting_process", &run).wait().unwrap();
    assert!(!status.success() && run.join(".journal").exists(), "{status}");
    assert_eq!(records(&run), expected(250));
}

#[test]
#[ignore = "the process that `a_process_killed_at_any_moment_keeps_what_it_wrote` starts"]
fn endless_process() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let run = RunDir::create(Path::new(&dir)).unwrap();
    let writer = TraceWriter::start(&run, &info(false), CONFIG).unwrap();
    let sender = writer.sender();
    for i in 0.. {
        sender.send(record(i)).unwrap();
        if i % 10 == 0 {
            println!("written {}", writer.progress().written);
        }
    }
}

#[test]
fn a_process_killed_at_any_moment_keeps_what_it_wrote() {
    for until in [1, 90, 333, 1_000] {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        let mut process = child("endless_process", &run);
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let written = loop {
            let line = lines.next().unwrap().unwrap();
            let written = line.rsplit_once("written ").and_then(|(_, n)| n.parse::<u64>().ok());
            if let Some(written) = written.filter(|n| *n >= until) {
                break written;
            }
        };
        process.kill().unwrap();
        process.wait().unwrap();
        let read = records(&run);
        assert!(read.len() as u64 >= written, "{} rows of at least {written}", read.len());
        assert_eq!(read, expected(read.len() as u64));
    }
}
