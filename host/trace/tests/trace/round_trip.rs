//! What is written is what is read.

use crate::common::{Random, finished, info};
use bench_core::record::RequestRecord;
use bench_trace::{RunDir, Trace, TraceError, TraceWriter, WriterConfig};
use std::path::Path;

/// Small bounds, so that a few rows make several batches and row groups.
const SMALL: WriterConfig = WriterConfig {
    flush_every: std::time::Duration::from_secs(3600),
    queue_bytes: 10_000,
    batch_rows: 7,
    batch_bytes: 1 << 20,
    row_group_rows: 20,
    row_group_bytes: 1 << 20,
};

fn write(dir: &Path, text: bool, config: WriterConfig, records: &[RequestRecord]) {
    let run = RunDir::create(dir).unwrap();
    let writer = TraceWriter::start(&run, &info(text), config).unwrap();
    let sender = writer.sender();
    for record in records {
        sender.send(record.clone()).unwrap();
    }
    let stats = writer.finish(&finished(text)).unwrap();
    assert_eq!(stats.rows, records.len() as u64);
    assert_eq!(stats.bytes, std::fs::metadata(dir.join("requests.parquet")).unwrap().len());
}

fn files(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_record_comes_back_as_it_was() {
    for seed in 0..24 {
        let mut random = Random(seed);
        let text = seed % 2 == 0;
        let records: Vec<_> = (0..random.below(90)).map(|_| random.record(text)).collect();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        write(&path, text, SMALL, &records);
        let trace = Trace::open(&path).unwrap();
        assert_eq!(trace.rows(), records.len() as u64);
        assert_eq!(trace.info(), &finished(text));
        for _ in 0..2 {
            let read: Vec<_> = trace.records().map(Result::unwrap).collect();
            assert_eq!(read, records, "seed {seed}");
        }
        assert_eq!(files(&path), ["requests.parquet", "run.json"]);
    }
}

/// Lists that fill pages of their own; some pages of token counts have a dictionary, others can't.
#[test]
fn long_lists_come_back() {
    let mut random = Random(11);
    let mut records: Vec<_> = (0..6).map(|i| random.realistic(i, 140_000)).collect();
    for (record, most) in records.iter_mut().zip([1, 256, 255, 65_535, 3, 9]) {
        let events = record.events.as_mut().unwrap();
        events.tokens = Some((0..140_000).map(|i| (i % (most + 1)) as u16).collect());
        events.gap_us[70_000] = -(most as i64);
    }
    records[5].events.as_mut().unwrap().gap_us.fill(0);
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), false, WriterConfig::default(), &records);
    let read: Vec<_> = Trace::open(dir.path()).unwrap().records().map(Result::unwrap).collect();
    assert!(read == records, "the records are not those that were written");
}

/// More sessions than a dictionary has places: the pages before have one, those after do not.
#[test]
fn columns_of_many_words_come_back() {
    let mut random = Random(12);
    let session =
        |i: u64| (!i.is_multiple_of(5)).then(|| format!("session {}", if i < 500 { i % 9 } else { i % 401 }).into());
    let records: Vec<_> = (0..2_000).map(|i| RequestRecord { session: session(i), ..random.realistic(i, 3) }).collect();
    for row_group_rows in [300, 5_000] {
        let dir = tempfile::tempdir().unwrap();
        let config = WriterConfig { row_group_rows, batch_rows: 100, ..WriterConfig::default() };
        write(dir.path(), false, config, &records);
        let read: Vec<_> = Trace::open(dir.path()).unwrap().records().map(Result::unwrap).collect();
        assert!(read == records, "the records are not those that were written");
    }
}

#[test]
fn texts_are_kept_only_where_asked() {
    let mut random = Random(7);
    let records: Vec<_> = (0..20).map(|_| random.record(true)).collect();
    assert!(records.iter().any(|r| r.prompt_text.is_some() && r.output_text.is_some()));
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), false, SMALL, &records);
    for (read, record) in Trace::open(dir.path()).unwrap().records().zip(records) {
        let without = RequestRecord { prompt_text: None, output_text: None, reasoning_text: None, ..record };
        assert_eq!(read.unwrap(), without);
    }
    let trace = Trace::open(dir.path()).unwrap();
    let error = trace.batches(&["prompt_text"]).next().unwrap().unwrap_err();
    assert!(matches!(error, TraceError::MissingColumn { .. }), "{error}");
}

#[test]
fn neighbours_share_their_scenario() {
    let mut random = Random(1);
    let records: Vec<_> = (0..5).map(|i| random.realistic(i, 3)).collect();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), false, WriterConfig::default(), &records);
    let read: Vec<_> = Trace::open(dir.path()).unwrap().records().map(Result::unwrap).collect();
    assert!(read.windows(2).all(|two| std::sync::Arc::ptr_eq(&two[0].scenario, &two[1].scenario)));
}

#[test]
fn some_columns_can_be_read_alone() {
    let mut random = Random(2);
    let records: Vec<_> = (0..50).map(|i| random.realistic(i, 3)).collect();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), false, SMALL, &records);
    let trace = Trace::open(dir.path()).unwrap();
    let batches: Vec<_> = trace.batches(&["request", "outcome"]).map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(|b| b.num_rows()).sum::<usize>(), 50);
    assert!(batches.iter().all(|b| b.num_columns() == 2 && b.column_by_name("outcome").is_some()));
}

#[test]
fn records_can_be_read_without_most_of_their_columns() {
    let mut random = Random(5);
    let records: Vec<_> = (0..50).map(|_| random.record(false)).collect();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), false, SMALL, &records);
    let trace = Trace::open(dir.path()).unwrap();
    // `prompt_text` is not in this trace.
    let read: Vec<_> = trace.records_of(&["sent_ns", "scenario", "prompt_text"]).map(Result::unwrap).collect();
    assert_eq!(read.len(), records.len());
    for (read, record) in read.iter().zip(&records) {
        assert_eq!((read.sent, &read.scenario), (record.sent, &record.scenario));
        assert_eq!((read.first_byte, &read.events, read.bytes_sent), (None, &None, 0));
    }
}

#[test]
fn a_run_without_requests_has_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), true, SMALL, &[]);
    let trace = Trace::open(dir.path()).unwrap();
    assert_eq!((trace.rows(), trace.records().count()), (0, 0));
}

#[test]
fn rows_in_several_files_are_one_trace() {
    let mut random = Random(3);
    let records: Vec<_> = (0..6).map(|_| random.record(false)).collect();
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(first.path(), false, SMALL, &records[..4]);
    write(second.path(), false, SMALL, &records[4..]);
    std::fs::rename(first.path().join("requests.parquet"), first.path().join("requests-0.parquet")).unwrap();
    std::fs::copy(second.path().join("requests.parquet"), first.path().join("requests-1.parquet")).unwrap();
    let trace = Trace::open(first.path()).unwrap();
    assert_eq!(trace.rows(), 6);
    assert_eq!(trace.records().map(Result::unwrap).collect::<Vec<_>>(), records);
}

#[test]
fn one_directory_takes_one_run() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    let run = RunDir::create(dir.path()).unwrap();
    assert!(matches!(RunDir::create(dir.path()), Err(TraceError::Locked { .. })));
    let writer = TraceWriter::start(&run, &info(false), SMALL).unwrap();
    // A run that goes on can't be read.
    assert!(matches!(Trace::open(dir.path()), Err(TraceError::Locked { .. })));
    writer.finish(&finished(false)).unwrap();
    drop(run);
    assert!(matches!(RunDir::create(dir.path()), Err(TraceError::HoldsRun { .. })));
    std::fs::remove_file(dir.path().join("run.json")).unwrap();
    assert!(matches!(RunDir::create(dir.path()), Err(TraceError::HoldsRun { .. })));
    std::fs::remove_file(dir.path().join("requests.parquet")).unwrap();
    assert!(RunDir::create(dir.path()).is_ok());
    assert_eq!(files(dir.path()), ["notes.txt"]);
}

#[test]
fn a_directory_without_a_run_says_so() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().to_owned(), dir.path().join("none")] {
        let error = Trace::open(&path).unwrap_err();
        assert!(matches!(error, TraceError::NoRun { missing: "run.json", .. }), "{error}");
    }
}

#[test]
fn what_comes_after_the_end_is_given_back() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunDir::create(dir.path()).unwrap();
    let writer = TraceWriter::start(&run, &info(false), SMALL).unwrap();
    let sender = writer.sender();
    writer.finish(&finished(false)).unwrap();
    let record = Random(1).realistic(5, 1);
    assert_eq!(sender.send(record).unwrap_err().request, 5);
}
