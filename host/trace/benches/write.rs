//! What writing and reading a trace costs: `cargo bench -p bench-trace [-- REQUESTS EVENTS]`.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

#[path = "../tests/trace/common.rs"]
mod common;

use bench_core::record::RequestRecord;
use bench_trace::{RunDir, Trace, TraceWriter, WriterConfig};
use common::{Random, finished, info};
use parquet::file::metadata::ParquetMetaDataReader;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::Instant;

/// CPU seconds that this process used, in the kernel's ticks of 10 ms.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    fields.iter().skip(11).take(2).filter_map(|f| f.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Greatest resident memory so far, MiB.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or_default() / 1024.0
}

fn column_bytes(path: &Path) -> BTreeMap<String, i64> {
    let file = File::open(path).expect("the trace was written");
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).expect("it is Parquet");
    let mut bytes = BTreeMap::new();
    for column in metadata.row_groups().iter().flat_map(|g| g.columns()) {
        *bytes.entry(column.column_path().string()).or_insert(0) += column.compressed_size();
    }
    bytes
}

fn main() {
    let numbers: Vec<u64> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let requests = numbers.first().copied().unwrap_or(100_000);
    let events = numbers.get(1).copied().unwrap_or(200);
    let dir = tempfile::tempdir().expect("a temporary folder");
    // A pool, so that making records costs next to nothing beside writing them.
    let mut random = Random(65);
    let pool: Vec<RequestRecord> = (0..2_000).map(|i| random.realistic(i, events as usize)).collect();
    let copy = |i: u64| RequestRecord { request: i, ..pool[(i % 2_000) as usize].clone() };

    let (start, begin) = (cpu(), Instant::now());
    (0..requests).for_each(|i| drop(std::hint::black_box(copy(i))));
    let copying = cpu() - start;
    println!("making the records: {copying:.2} CPU s, {:.2} s", begin.elapsed().as_secs_f64());

    let (start, begin) = (cpu(), Instant::now());
    let run = RunDir::create(dir.path()).expect("an empty folder");
    let writer = TraceWriter::start(&run, &info(false), WriterConfig::default()).expect("a writer");
    let sender = writer.sender();
    for i in 0..requests {
        sender.send(copy(i)).expect("the trace is open");
    }
    let (end, closing) = (Instant::now(), cpu());
    let stats = writer.finish(&finished(false)).expect("the trace is written");
    let used = cpu() - start - copying;
    let total = (requests * events) as f64;
    println!(
        "writing {requests} requests x {events} events: {used:.2} CPU s ({:.2} µs a request, {:.1} ns an event), {:.2} s; \
         of it the end {:.2} CPU s, {:.2} s",
        used * 1e6 / requests as f64,
        used * 1e9 / total,
        begin.elapsed().as_secs_f64(),
        cpu() - closing,
        end.elapsed().as_secs_f64(),
    );
    println!(
        "memory: {:.1} MiB at most, the records' pool of {:.1} MiB in it",
        resident(),
        2_400.0 * events as f64 / 1e5
    );
    println!("file: {} bytes, {:.3} an event", stats.bytes, stats.bytes as f64 / total);
    for (column, bytes) in column_bytes(&dir.path().join("requests.parquet")) {
        println!(
            "  {column}: {:.3} bytes an event, {:.1} a request",
            bytes as f64 / total,
            bytes as f64 / requests as f64
        );
    }

    let (start, begin) = (cpu(), Instant::now());
    let trace = Trace::open(dir.path()).expect("the trace is there");
    let read = trace.records().inspect(|r| assert!(r.is_ok(), "every row is whole")).count();
    let used = cpu() - start;
    println!(
        "reading {read} records: {used:.2} CPU s ({:.1} ns an event), {:.2} s",
        used * 1e9 / total,
        begin.elapsed().as_secs_f64()
    );
}
