//! Traces of old versions stay readable, and the files have the types that they promise.
//!
//! `tests/data/trace/v1` and `tests/data/trace/measured` of the repository are files as format 1.0 wrote them.
//! `BENCH_BLESS=1 cargo test -p bench-trace format` writes them where they are missing; old ones are never rewritten.

use crate::common::{Random, finished, info};
use bench_core::decode::EventKind;
use bench_core::outcome::Outcome;
use bench_core::record::{Phase, RequestRecord};
use bench_trace::{COLUMNS, FORMAT, RunDir, Trace, TraceWriter, WriterConfig};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/trace").join(name)
}

fn to_be_made(golden: &Path) -> bool {
    !golden.exists() && std::env::var_os("BENCH_BLESS").is_some()
}

fn write(dir: &Path, text: bool, records: &[RequestRecord]) {
    let config = WriterConfig { row_group_rows: 25, batch_rows: 25, ..WriterConfig::default() };
    let run = RunDir::create(dir).unwrap();
    let writer = TraceWriter::start(&run, &info(text), config).unwrap();
    let sender = writer.sender();
    records.iter().for_each(|r| sender.send(r.clone()).unwrap());
    writer.finish(&finished(text)).unwrap();
}

/// A copy, so that nothing ever writes to the golden files.
fn copy_of(golden: &Path) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["run.json", "requests.parquet"] {
        fs::copy(golden.join(name), dir.path().join(name)).unwrap();
    }
    dir
}

fn lines(records: &[RequestRecord]) -> String {
    records.iter().map(|r| format!("{r:?}\n")).collect()
}

#[test]
fn format_1_0_is_read() {
    let golden = data("v1");
    if to_be_made(&golden) {
        let records: Vec<_> = (0..30).map(|seed| Random(seed).record(true)).collect();
        write(&golden, true, &records);
        fs::write(golden.join("records.txt"), lines(&records)).unwrap();
    }
    let copy = copy_of(&golden);
    let trace = Trace::open(copy.path()).unwrap();
    assert_eq!(trace.info().format.to_string(), "1.0");
    let records: Vec<_> = trace.records().map(Result::unwrap).collect();
    let text = fs::read_to_string(golden.join("records.txt")).unwrap();
    assert!(lines(&records) == text, "the records of `tests/data/trace/v1` are not those of its `records.txt`");
}

/// Requests as a run makes them: two repeats, warm-up, failures, an answer that was not streamed, role and usage
/// events, unknown event tokens.
fn measured() -> Vec<RequestRecord> {
    let mut random = Random(65);
    (0..240)
        .map(|i| {
            let events = [3, 12, 40, 1][i as usize % 4] + random.below(20) as usize;
            let mut record = random.realistic(i, events);
            record.repeat = (i / 120) as u32;
            let list = record.events.as_mut().unwrap();
            match i % 10 {
                0 if i < 40 => record.phase = Phase::Warmup,
                3 => {
                    list.kind[0] = EventKind::Role;
                    let first: i64 = list.gap_us.iter().take(2).sum();
                    record.first_token = record.sent.map(|s| bench_core::clock::Nanos(s.0 + first as u64 * 1_000));
                    record.first_content = record.first_token;
                    list.tokens = None;
                }
                5 => record.outcome = [Outcome::Timeout, Outcome::HttpError, Outcome::Reset][i as usize % 3],
                7 => {
                    record.streamed = Some(false);
                    record.events = None;
                    (record.first_token, record.first_content, record.last_token) = (None, None, None);
                }
                _ => {}
            }
            record
        })
        .collect()
}

/// numpy's linear rule.
fn percentile(sorted: &[f64], q: f64) -> f64 {
    let at = (sorted.len() - 1) as f64 * q;
    let (a, b, t) = (sorted[at.floor() as usize], sorted[at.ceil() as usize], at.fract());
    if t < 0.5 { a + (b - a) * t } else { b - (b - a) * (1.0 - t) }
}

fn spread(mut values: Vec<f64>) -> Value {
    values.sort_by(f64::total_cmp);
    json!({
        "n": values.len(),
        "value": null,
        "distribution": {
            "mean": values.iter().sum::<f64>() / values.len() as f64,
            "median": percentile(&values, 0.5),
            "p99": percentile(&values, 0.99),
        },
    })
}

/// The figures of one repeat, in the form of `summary.json`.
fn figures(rows: &[&RequestRecord], repeat: u32) -> Value {
    let rows: Vec<_> = rows.iter().filter(|r| r.repeat == repeat && r.phase == Phase::Measure).collect();
    let mut outcomes = BTreeMap::new();
    rows.iter().for_each(|r| *outcomes.entry(r.outcome.as_str()).or_insert(0) += 1);
    let (mut ttft, mut tpot, mut itl, mut e2e, mut tokens) = (vec![], vec![], vec![], vec![], 0);
    for row in rows.iter().filter(|r| r.outcome == Outcome::Complete) {
        let sent = row.sent.unwrap();
        let ms = |t: bench_core::clock::Nanos| (t.0 - sent.0) as f64 / 1e6;
        e2e.push(ms(row.last_token.unwrap_or(row.end)));
        tokens += row.output_tokens.unwrap();
        let Some(events) = &row.events else { continue };
        let content: Vec<usize> = (0..events.kind.len()).filter(|i| events.kind[*i].is_content()).collect();
        let times: Vec<i64> = events.times_us().collect();
        itl.extend(content.windows(2).map(|two| (times[two[1]] - times[two[0]]) as f64 / 1e3));
        let first = row.first_token.unwrap();
        ttft.push(ms(first));
        let first_tokens = events.tokens.as_ref().map_or(1, |t| u32::from(t[content[0]]));
        let later = row.output_tokens.unwrap() - first_tokens;
        if content.len() > 1 && later > 0 {
            tpot.push((ms(row.last_token.unwrap()) - ms(first)) / f64::from(later));
        }
    }
    let window = finished(false).windows.iter().find(|w| w.repeat == repeat).map(|w| w.start.0);
    let start = rows.iter().map(|r| r.scheduled.0).chain(window).min().unwrap();
    let seconds = (rows.iter().map(|r| r.end.0).max().unwrap() - start) as f64 / 1e9;
    let rate = |count: f64| json!({"n": e2e.len(), "value": count / seconds, "distribution": null});
    json!({
        "scenario": "measured",
        "repeat": repeat,
        "outcomes": outcomes,
        "figures": {
            "request_throughput": rate(e2e.len() as f64),
            "output_throughput": rate(f64::from(tokens)),
            "output_tokens": {"n": e2e.len(), "value": tokens, "distribution": null},
            "ttft": spread(ttft),
            "tpot": spread(tpot),
            "itl": spread(itl),
            "e2e": spread(e2e),
        },
    })
}

/// `tests/python/read_trace.py` compares what DuckDB, pandas and polars make of this run with its `summary.json`.
#[test]
fn the_run_for_other_readers_is_what_it_says() {
    let golden = data("measured");
    let records = measured();
    if to_be_made(&golden) {
        write(&golden, false, &records);
    }
    let copy = copy_of(&golden);
    let read: Vec<_> = Trace::open(copy.path()).unwrap().records().map(Result::unwrap).collect();
    let read: Vec<&RequestRecord> = read.iter().collect();
    let summary = json!({"results": [figures(&read, 0), figures(&read, 1)]});
    let path = golden.join("summary.json");
    if to_be_made(&path) {
        fs::write(&path, serde_json::to_string_pretty(&summary).unwrap() + "\n").unwrap();
    }
    let golden: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(summary, golden);
}

#[test]
fn the_file_tells_all_that_is_known_of_the_run() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), true, &[Random(1).record(true)]);
    let file = fs::File::open(dir.path().join("requests.parquet")).unwrap();
    let metadata = parquet::file::metadata::ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
    let file_metadata = metadata.file_metadata();
    let pairs = file_metadata.key_value_metadata().unwrap();
    let value = |key: &str| pairs.iter().find(|p| p.key == key).unwrap().value.clone().unwrap();
    assert_eq!(value("bench.format"), FORMAT.to_string());
    let run: Value = serde_json::from_str(&value("bench.run")).unwrap();
    let json: Value = serde_json::from_str(&fs::read_to_string(dir.path().join("run.json")).unwrap()).unwrap();
    assert_eq!(run, json);
    assert_eq!(json, serde_json::to_value(finished(true)).unwrap());
    let roots: Vec<_> = file_metadata.schema().get_fields().iter().map(|f| f.name().to_owned()).collect();
    assert_eq!(roots, COLUMNS.iter().map(|c| c.name).collect::<Vec<_>>());
}
