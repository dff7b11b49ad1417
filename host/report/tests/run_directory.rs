//! The summary of a run directory, through its files.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use bench_core::clock::Nanos;
use bench_core::load::{ArrivalProcess, Limits, LoadKind, LoadSpec, Slo};
use bench_core::outcome::Outcome;
use bench_core::record::{Phase, RequestRecord};
use bench_report::{Facts, Status, compat, format, summarize, summarize_rows};
use bench_trace::{
    ClientStats, EngineRun, FORMAT, Hardware, LaunchedProcess, RunDir, RunInfo, RunState, ScenarioInfo, Seeds,
    ThreadStats, Trace, TraceWriter, WallTime, Window, WriterConfig,
};
use std::path::Path;
use std::time::UNIX_EPOCH;
use support::{failed, one_shot, steady};

const MS: u64 = 1_000_000;

fn info(state: RunState) -> RunInfo {
    let load = LoadSpec {
        kind: LoadKind::Closed { concurrency: 2, think_time: Nanos(0) },
        requests: Some(150),
        duration: None,
        max_concurrency: None,
        process: ArrivalProcess::Bench,
    };
    RunInfo {
        format: FORMAT,
        bench_host: "0.1.0".into(),
        name: "directory".into(),
        started: WallTime::from_system(UNIX_EPOCH),
        monotonic_origin_ns: None,
        command: vec![],
        interrupted: state == RunState::Interrupted,
        state,
        recovery: None,
        text: false,
        plan: serde_json::json!({"repeats": 1}),
        plan_sha256: "ab".repeat(32),
        seeds: Seeds::default(),
        tokenizer: None,
        adapters: vec![],
        engine: Some(EngineRun {
            adapter: "sim".into(),
            processes: vec![LaunchedProcess {
                name: "server".into(),
                replica: 0,
                command: vec!["sim".into(), "--name".into(), "a b".into()],
                end: None,
            }],
            ..EngineRun::default()
        }),
        selftest: None,
        hardware: Hardware::default(),
        scenarios: vec![ScenarioInfo {
            name: "s".into(),
            dataset: "jsonl".into(),
            load,
            limits: Limits { max_failure_rate: 0.1, ..Limits::default() },
            slo: Slo { ttft: Some(Nanos(15 * MS)), ..Slo::default() },
            samples: Some(150),
            notes: vec![],
        }],
        windows: vec![window(Phase::Warmup, 1), window(Phase::Measure, 5)],
    }
}

fn window(phase: Phase, start_ms: u64) -> Window {
    let threads =
        vec![ThreadStats { cpu: Nanos(10), wall: Nanos(100) }, ThreadStats { cpu: Nanos(90), wall: Nanos(100) }];
    Window {
        scenario: "s".into(),
        repeat: 0,
        phase,
        start: Nanos(start_ms * MS),
        end: None,
        requests: Some(150),
        client: Some(ClientStats { transport: "epoll".into(), threads, clock_steps: 0, health: None }),
    }
}

fn rows() -> Vec<RequestRecord> {
    let mut rows = vec![RequestRecord { phase: Phase::Warmup, ..steady(0, MS, MS, MS, 5) }];
    rows.extend((0..148).map(|i| steady(i, (10 + i * 20) * MS, 10 * MS + i * 77_777, MS + i * 1_234, 12)));
    rows.push(one_shot(148, 3_000 * MS, 44 * MS, 9));
    rows.push(failed(149, 3_100 * MS, 20 * MS, Outcome::Reset));
    rows
}

fn write(dir: &Path, state: RunState) -> Trace {
    let run_dir = RunDir::create(dir).unwrap();
    let writer = TraceWriter::start(&run_dir, &info(RunState::Running), WriterConfig::default()).unwrap();
    let sender = writer.sender();
    for row in rows() {
        sender.send(row).unwrap();
    }
    writer.finish(&info(state)).unwrap();
    drop(run_dir);
    Trace::open(dir).unwrap()
}

fn json(trace: &Trace) -> Vec<u8> {
    let mut out = Vec::new();
    format::json::write(&summarize(trace).unwrap(), &mut out).unwrap();
    out
}

#[test]
fn says_the_same_as_its_rows_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let trace = write(dir.path(), RunState::Finished);
    let summary = summarize(&trace).unwrap();
    let facts = Facts::from(&info(RunState::Finished));
    assert_eq!(summary, summarize_rows(rows().as_slice(), &facts).unwrap());
    assert_eq!(json(&trace), json(&Trace::open(dir.path()).unwrap()));

    let result = &summary.results[0];
    assert_eq!((result.requests.complete, result.requests.failed, result.requests.warmup), (149, 1, 1));
    assert_eq!(result.window.as_ref().unwrap().start_ns, 5 * MS);
    assert_eq!(result.slo[0].of, 150);
    assert_eq!(summary.run.engine_command.as_deref(), Some("sim --name 'a b'"));
    let codes: Vec<_> = result.verdict.reasons.iter().map(|r| r.code.as_str()).collect();
    assert_eq!(codes, ["client-busy", "failures", "not-streamed"]);
    assert_eq!(summary.verdict.status, Status::Doubtful);
}

#[test]
fn an_end_before_its_time_is_invalid() {
    for (state, code) in [
        (RunState::Interrupted, "interrupted"),
        (RunState::Killed, "broken-off"),
        (RunState::Failed("the engine ended".into()), "broken-off"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let verdict = summarize(&write(dir.path(), state)).unwrap().verdict;
        assert_eq!((verdict.status, verdict.reasons[0].code.as_str()), (Status::Invalid, code));
    }
}

#[test]
fn another_tools_block() {
    let dir = tempfile::tempdir().unwrap();
    let trace = write(dir.path(), RunState::Finished);
    let mut out = Vec::new();
    compat::vllm_011(&trace, &mut out).unwrap();
    let block = String::from_utf8(out).unwrap();
    assert!(block.starts_with("============ Serving Benchmark Result ============\nSuccessful requests:                     149       \nMaximum request concurrency:             2         \n"), "{block}");
    // 148 prompts of 10 and one more; 12 tokens each and 9.
    assert!(block.contains("Total input tokens:                      1490      \n"), "{block}");
    assert!(block.contains("Total generated tokens:                  1785      \n"), "{block}");
    // From the schedule's zero at 5 ms to the last end at 3120 ms.
    assert!(block.contains("Benchmark duration (s):                  3.12      \n"), "{block}");
    assert!(block.ends_with(&format!("{}\n", "=".repeat(50))), "{block}");
}
