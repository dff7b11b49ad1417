//! What the summary of a trace costs: `cargo bench -p bench-report [-- --requests N --events N]`.
//!
//! Writes a trace of records that don't repeat, and then reads it as `bench-host report` does.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

#[path = "../../trace/tests/trace/common.rs"]
mod common;

use bench_report::{format, summarize};
use bench_trace::{RunDir, Trace, TraceWriter, WriterConfig};
use common::{Random, finished, info};
use std::fs;
use std::time::Instant;

/// Greatest resident memory since the last [`forget_peak`], MiB.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or_default() / 1024.0
}

/// Lets the kernel count the greatest resident memory anew; where it can't, the peak is that of writing too.
fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn argument(name: &str, default: u64) -> u64 {
    let mut arguments = std::env::args().skip_while(|a| a != name);
    arguments.nth(1).map_or(default, |number| number.parse().expect("a number"))
}

fn main() {
    let (requests, events) = (argument("--requests", 100_000), argument("--events", 200));
    let dir = tempfile::tempdir().expect("a temporary folder");
    let run = RunDir::create(dir.path()).expect("an empty folder");
    let writer = TraceWriter::start(&run, &info(false), WriterConfig::default()).expect("a writer");
    let sender = writer.sender();
    let mut random = Random(65);
    for i in 0..requests {
        let length = events * 3 / 4 + random.below(events / 2 + 1);
        sender.send(random.realistic(i, length.max(1) as usize)).expect("the trace is open");
    }
    writer.finish(&finished(false)).expect("the trace is written");
    drop(run);

    forget_peak();
    let begin = Instant::now();
    let trace = Trace::open(dir.path()).expect("the trace is there");
    let summary = summarize(&trace).expect("the trace has a summary");
    let took = begin.elapsed().as_secs_f64();
    let mut json = Vec::new();
    format::json::write(&summary, &mut json).expect("the summary is JSON");
    let itl = summary.results.iter().find_map(|r| r.figures.get("itl")).map_or(0, |f| f.n);
    println!(
        "summary of {requests} requests, {itl} gaps: {took:.2} s, {:.2} µs a request; memory: {:.1} MiB resident at most",
        took * 1e6 / requests as f64,
        resident()
    );
    if let Some(place) = std::env::var_os("BENCH_SUMMARY") {
        fs::write(place, json).expect("the summary is written");
    }
}
