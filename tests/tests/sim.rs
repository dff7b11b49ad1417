//! The whole way against the simulated engine: a real process, a real HTTP server, real adapters, a real trace.

mod common;

use bench_core::outcome::Outcome;
use bench_core::record::{Phase, Stamp, TokenSource};
use common::{Case, assert_exit, bench_host, processes_with, prompts, sim_workload, statistic, stderr, stdout, value};
use std::io::Read;
use std::process::{Child, Stdio};

#[test]
fn the_quickstart_is_valid_and_reported_the_same_again() {
    let case = Case::new("");
    let quickstart = common::root().join("workloads/quickstart.toml");
    let out = case.out();
    let run = common::command()
        .args(["run", "--quiet", "--compat", "vllm-0.11", "--out"])
        .args([&out, &quickstart])
        .output()
        .expect("run bench-host");
    assert_exit(&run, 0);
    let text = stdout(&run);
    // A busy machine may make it doubtful, which is the verdict's business.
    assert!(!text.contains("INVALID"), "{text}");
    assert!(text.contains("============ Serving Benchmark Result ============"), "{text}");
    assert!(text.contains("requests.parquet") && text.contains("bench-host report"), "{text}");

    let rows = case.rows();
    let measured: Vec<_> = rows.iter().filter(|r| r.phase == Phase::Measure).collect();
    assert_eq!(measured.len(), 200);
    assert!(measured.iter().all(|r| r.outcome == Outcome::Complete && r.stamp == Some(Stamp::Kernel)));
    assert!(measured.iter().all(|r| r.token_source == Some(TokenSource::Usage)));
    assert!(measured.iter().all(|r| r.output_tokens == r.output_tokens_asked));

    let again = bench_host(["report", "--format", "json", &out.display().to_string()]);
    assert_exit(&again, 0);
    assert_eq!(stdout(&again).into_bytes(), std::fs::read(out.join("summary.json")).expect("read the summary"));
    assert!(processes_with(&out.display().to_string()).is_empty(), "the engine is still there");
}

#[test]
fn configured_times_are_measured() {
    let case =
        Case::new(&sim_workload("ttft = \"80ms\"\nitl = \"5ms\"", "kind = \"closed\"\nconcurrency = 4\nrequests = 24"))
            .file("prompts.jsonl", &prompts(24, 21));
    assert_exit(&case.run(&[]), 0);
    let summary = case.summary();
    let result = &summary["results"][0];
    // Never early. How late the machine makes them is the machine's; the simulated engine's own tests hold it to its
    // tolerance.
    for (figure, least) in [("ttft", 80.0), ("itl", 4.9), ("tpot", 4.9)] {
        let median = statistic(result, figure, "median");
        assert!(median >= least, "{figure}: {median} ms is less than {least}");
    }
    assert_eq!(value(result, "output_tokens"), 24.0 * 21.0);
}

#[test]
fn a_thousand_streams_at_once() {
    let case = Case::new(&sim_workload("ttft = \"500ms\"\nitl = \"100ms\"", "kind = \"burst\"\nrequests = 1000"))
        .file("prompts.jsonl", &prompts(1000, 10));
    let run = case.run(&["--set", "scenario.own.limits.request-timeout=\"120s\""]);
    let rows = case.rows();
    let measured: Vec<_> = rows.iter().filter(|r| r.phase == Phase::Measure).collect();
    assert_eq!(measured.len(), 1000, "{}", stderr(&run));
    assert!(measured.iter().all(|r| r.outcome == Outcome::Complete && r.output_tokens == Some(10)));
    let summary = case.summary();
    let figure = &summary["results"][0]["figures"]["concurrency_peak"];
    assert_eq!(figure["value"].as_f64(), Some(1000.0), "{figure:#}");
}

#[test]
fn open_loops_keep_their_schedule() {
    let case = Case::new(&sim_workload(
        "ttft = \"20ms\"\nitl = \"2ms\"",
        "kind = \"poisson\"\nrate = 40.0\nduration = \"3s\"",
    ))
    .file("prompts.jsonl", &prompts(400, 5));
    assert_exit(&case.run(&[]), 0);
    let rows = case.rows();
    let start = case.json("run.json")["windows"].as_array().expect("windows").last().expect("one")["start"].clone();
    let start = start.as_u64().expect("ns");
    let measured: Vec<_> = rows.iter().filter(|r| r.phase == Phase::Measure).collect();
    assert!((60..200).contains(&measured.len()), "{} arrivals at 40/s in 3 s", measured.len());
    assert!(measured.iter().all(|r| r.scheduled.0 >= start && r.scheduled.0 < start + 3_000_000_000));
    assert!(measured.iter().all(|r| r.sent >= Some(r.scheduled)));
}

#[test]
fn failures_are_counted_and_shown() {
    let case = Case::new(&sim_workload(
        "ttft = \"5ms\"\nitl = \"1ms\"\nfault = [\"reset:every=4,after=3\"]",
        "kind = \"closed\"\nconcurrency = 2\nrequests = 40",
    ))
    .file("prompts.jsonl", &prompts(40, 8));
    let run = case.run(&[]);
    assert_exit(&run, 4);
    let result = &case.summary()["results"][0];
    assert!(result["outcomes"]["reset"].as_u64() > Some(5), "{result:#}");
    assert_eq!(result["requests"]["attempts"].as_u64(), Some(40));
    assert!(stdout(&run).contains("INVALID"), "{}", stdout(&run));
}

/// Starts a run of a slow engine and waits until requests are in the journal's reach: the first progress of the run is
/// its `run.json` with an engine.
fn start_slow(case: &Case) -> Child {
    let mut command = case.command();
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start bench-host");
    wait_until("requests in the journal", || journal_has_rows(case));
    child
}

fn journal_has_rows(case: &Case) -> bool {
    std::fs::read_dir(case.out().join(".journal"))
        .map(|d| d.filter_map(|e| e.ok()?.metadata().ok()).any(|m| m.len() > 8192))
        .unwrap_or(false)
}

fn wait_until(what: &str, mut seen: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !seen() {
        assert!(start.elapsed().as_secs() < 60, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(child.id() as i32).expect("a pid");
    rustix::process::kill_process(pid, signal).expect("send a signal");
}

fn slow_case() -> Case {
    Case::new(&sim_workload("ttft = \"20ms\"\nitl = \"20ms\"", "kind = \"closed\"\nconcurrency = 4\nrequests = 5000"))
        .file("prompts.jsonl", &prompts(5000, 5))
}

#[test]
fn one_interrupt_drains() {
    let case = slow_case();
    let child = start_slow(&case);
    signal(&child, rustix::process::Signal::INT);
    let output = child.wait_with_output().expect("wait for bench-host");
    assert_exit(&output, 130);
    let rows = case.rows();
    let measured: Vec<_> = rows.iter().filter(|r| r.phase == Phase::Measure).collect();
    assert!(!measured.is_empty() && measured.len() < 5000);
    assert!(measured.iter().all(|r| r.outcome == Outcome::Complete), "what was in flight ended by itself");
    assert_eq!(case.json("run.json")["interrupted"].as_bool(), Some(true));
}

#[test]
fn a_killed_run_is_read_up_to_the_last_seconds() {
    let case = slow_case();
    let mut child = start_slow(&case);
    child.kill().expect("kill bench-host");
    let mut said = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut said).expect("read stderr");
    child.wait().expect("wait for bench-host");
    let report = bench_host(["report", &case.out().display().to_string()]);
    assert_exit(&report, 0);
    assert!(stdout(&report).contains("INVALID"), "{}", stdout(&report));
    assert!(!case.rows().is_empty());
    wait_until("the engine's end", || processes_with(&case.out().display().to_string()).is_empty());
}
