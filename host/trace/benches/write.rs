//! What writing and reading a trace costs: `cargo bench -p bench-trace [-- --requests N --events N]`.
//!
//! Every record is another one, as in a run: gaps, token counts, digests and lengths don't repeat, and answers have
//! three quarters to five quarters of `--events` events. What writing costs is all CPU of the process but for that of
//! making the records.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

#[path = "../tests/trace/common.rs"]
mod common;

use bench_core::record::RequestRecord;
use bench_trace::{RunDir, Trace, TraceWriter, WriterConfig};
use common::{Random, finished, info};
use parquet::file::metadata::ParquetMetaDataReader;
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

/// CPU seconds that this process or thread used, in user and kernel.
fn cpu(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

const PROCESS: ClockId = ClockId::ProcessCPUTime;
/// Records that are made, and then written: whole batches of the journal.
const AT_ONCE: usize = 1_000;

/// Greatest resident memory so far, MiB.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or_default() / 1024.0
}

fn argument(name: &str, default: u64) -> u64 {
    let mut arguments = std::env::args().skip_while(|a| a != name);
    arguments.nth(1).map_or(default, |number| number.parse().expect("a number"))
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

/// The records of the bench, one after the other and always the same.
fn records(requests: u64, events: u64) -> impl Iterator<Item = RequestRecord> {
    let mut random = Random(65);
    (0..requests).map(move |i| {
        let length = events * 3 / 4 + random.below(events / 2 + 1);
        random.realistic(i, length.max(1) as usize)
    })
}

fn main() {
    let (requests, events) = (argument("--requests", 100_000), argument("--events", 200));
    let dir = tempfile::tempdir().expect("a temporary folder");
    let of_requests = |cpu: f64| cpu * 1e6 / requests as f64;

    let (start, begin) = (cpu(PROCESS), Instant::now());
    let run = RunDir::create(dir.path()).expect("an empty folder");
    let writer = TraceWriter::start(&run, &info(false), WriterConfig::default()).expect("a writer");
    let sender = writer.sender();
    let (mut making, mut total, mut sent) = (0.0, 0, 0);
    let mut records = records(requests, events).peekable();
    while records.peek().is_some() {
        let start = cpu(PROCESS);
        let some: Vec<RequestRecord> = records.by_ref().take(AT_ONCE).collect();
        total += some.iter().flat_map(|r| &r.events).map(|e| e.gap_us.len()).sum::<usize>();
        sent += some.len() as u64;
        making += cpu(PROCESS) - start;
        some.into_iter().for_each(|record| sender.send(record).expect("the trace is open"));
        // What is made while the writer works would fight with it for caches and the allocator's lock.
        while records.peek().is_some() && writer.progress().written < sent {
            assert_eq!(writer.progress().error, None);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let (end, closing) = (Instant::now(), cpu(PROCESS));
    let stats = writer.finish(&finished(false)).expect("the trace is written");
    let used = cpu(PROCESS) - start - making;
    println!(
        "writing {requests} requests, {total} events: {:.2} µs of CPU a request, {:.1} ns an event, {:.2} s in all \
         (of it the end {:.2} µs, {:.2} s); making the records, not in it: {:.2} µs",
        of_requests(used),
        used * 1e9 / total as f64,
        begin.elapsed().as_secs_f64(),
        of_requests(cpu(PROCESS) - closing),
        end.elapsed().as_secs_f64(),
        of_requests(making),
    );
    println!("memory: {:.1} MiB resident at most", resident());
    println!("file: {:.3} bytes an event", stats.bytes as f64 / total as f64);
    for (column, bytes) in column_bytes(&dir.path().join("requests.parquet")) {
        let (event, request) = (bytes as f64 / total as f64, bytes as f64 / requests as f64);
        println!("  {column}: {event:.3} bytes an event, {request:.1} a request");
    }

    if std::env::args().any(|a| a == "--write-only") {
        return;
    }
    let (start, begin) = (cpu(PROCESS), Instant::now());
    let trace = Trace::open(dir.path()).expect("the trace is there");
    let read = trace.records().inspect(|r| assert!(r.is_ok(), "every row is whole")).count();
    let used = cpu(PROCESS) - start;
    println!(
        "reading {read} records: {:.2} µs of CPU a request, {:.2} s; memory: {:.1} MiB resident at most",
        of_requests(used),
        begin.elapsed().as_secs_f64(),
        resident()
    );
    if let Some(keep) = std::env::var_os("BENCH_KEEP_TRACE") {
        fs::copy(dir.path().join("requests.parquet"), keep).expect("the trace is copied");
    }
}
