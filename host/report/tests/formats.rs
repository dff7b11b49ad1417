//! What people and programs get to read, as checked-in files.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use bench_core::clock::Nanos;
use bench_core::decode::EventKind::{Reasoning, Text, Usage};
use bench_core::load::{ArrivalProcess, LoadKind, LoadSpec, Slo};
use bench_core::outcome::Outcome;
use bench_core::record::{Phase, RequestRecord};
use bench_core::sample::SampleNote;
use bench_report::{Facts, RunMeta, ScenarioFacts, Summary, WindowFacts, format, summarize_rows};
use support::{failed, golden, steady, streamed};

const MS: u64 = 1_000_000;

/// One good scenario, and one with all that can be wrong.
fn summary() -> Summary {
    let mut rows: Vec<RequestRecord> = (0..120)
        .map(|i| {
            let usage =
                |row: RequestRecord| RequestRecord { output_tokens_asked: Some(20), cached_tokens: Some(0), ..row };
            usage(steady(i, i * 60 * MS, 20 * MS + i * 100_000, 2 * MS + i * 1_000, 20))
        })
        .collect();
    rows.insert(0, RequestRecord { phase: Phase::Warmup, ..steady(0, 0, 90 * MS, 5 * MS, 20) });
    for repeat in 0..2 {
        let events = [(30 * MS, Reasoning, None), (50 * MS, Text, None), (90 * MS, Text, None), (91 * MS, Usage, None)];
        let start = 10_000 * MS * (u64::from(repeat) + 1);
        let second = [
            RequestRecord { output_tokens: Some(6), ..streamed(0, start, start + 2 * MS, &events) },
            failed(1, start, 500 * MS, Outcome::Timeout),
            failed(2, start, MS, Outcome::StaleConnection),
        ];
        rows.extend(second.into_iter().map(|row| RequestRecord { scenario: "a|b, \"c\"".into(), repeat, ..row }));
    }
    summarize_rows(rows.as_slice(), &facts()).unwrap()
}

fn facts() -> Facts {
    let load = |kind, requests| LoadSpec {
        kind,
        requests: Some(requests),
        duration: None,
        max_concurrency: None,
        process: ArrivalProcess::Bench,
    };
    let first = ScenarioFacts {
        name: "s".into(),
        load: Some(load(LoadKind::Closed { concurrency: 4, think_time: Nanos(0) }, 120)),
        slo: Slo { ttft: Some(Nanos(25 * MS)), e2e: Some(Nanos(100 * MS)), ..Slo::default() },
        notes: vec![SampleNote {
            code: "assistant-prompt".into(),
            message: "the prompt is text that an assistant wrote".into(),
            count: 45,
            offset: None,
        }],
        ..ScenarioFacts::default()
    };
    let second = ScenarioFacts {
        name: "a|b, \"c\"".into(),
        load: Some(load(LoadKind::Poisson { rate: 2.5 }, 2)),
        ..ScenarioFacts::default()
    };
    Facts {
        run: RunMeta {
            name: Some("example".into()),
            plan_hash: Some("ab12".into()),
            bench_host: Some("0.1.0".into()),
            started: Some("2026-11-30T20:00:00Z".into()),
            engine: Some("sim".into()),
            engine_version: Some("0.1.0".into()),
            engine_command: Some("bench-host sim --port 1234".into()),
            model: Some("a-model".into()),
        },
        scenarios: vec![first, second],
        windows: vec![WindowFacts { scenario: "s".into(), start: Some(Nanos(0)), ..WindowFacts::default() }],
        percentiles: vec![75.0, 90.0, 99.0, 99.9],
        ..Facts::default()
    }
}

fn text(write: impl FnOnce(&Summary, &mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&summary(), &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn terminal() {
    let plain = text(|s, out| format::terminal::write(s, false, out).unwrap());
    golden("tests/golden/terminal.txt", &plain);
    for line in plain.lines() {
        assert!(line.chars().count() <= 80 && line.trim_end() == line, "`{line}`");
    }
    let coloured = text(|s, out| format::terminal::write(s, true, out).unwrap());
    let stripped =
        ["\u{1b}[1;32m", "\u{1b}[1;33m", "\u{1b}[1;31m", "\u{1b}[0m"].iter().fold(coloured, |t, c| t.replace(c, ""));
    assert_eq!(stripped, plain);
}

#[test]
fn csv() {
    let csv = text(|s, out| format::csv::write(s, out).unwrap());
    golden("tests/golden/summary.csv", &csv);
    assert!(csv.contains("\"a|b, \"\"c\"\"\",1,ttft,mean,ms,30,,\n"));
}

#[test]
fn markdown() {
    golden("tests/golden/summary.md", &text(|s, out| format::markdown::write(s, out).unwrap()));
}

#[test]
fn json() {
    let json = text(|s, out| format::json::write(s, out).unwrap());
    golden("tests/golden/summary.json", &json);
    assert_eq!(serde_json::from_str::<Summary>(&json).unwrap(), summary());
}
