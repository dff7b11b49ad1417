//! Every reason of a verdict, by a run that gives it.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use bench_core::clock::Nanos;
use bench_core::load::{ArrivalProcess, Limits, LoadKind, LoadSpec};
use bench_core::outcome::Outcome;
use bench_core::record::{RequestRecord, Stamp, TokenSource};
use bench_report::{Facts, Level, ScenarioFacts, Status, Trust, Verdict, WindowFacts, summarize_rows};
use support::{digest, failed, one_shot, steady};

const MS: u64 = 1_000_000;

/// 200 good answers of 10 tokens, one after another.
fn good() -> Vec<RequestRecord> {
    (0..200).map(|i| steady(i, i * 50 * MS, 10 * MS, 3 * MS, 10)).collect()
}

fn scenario(kind: LoadKind, requests: u64) -> ScenarioFacts {
    let load = LoadSpec {
        kind,
        requests: Some(requests),
        duration: None,
        max_concurrency: None,
        process: ArrivalProcess::Bench,
    };
    ScenarioFacts { name: "s".into(), load: Some(load), ..ScenarioFacts::default() }
}

fn facts() -> Facts {
    let closed = LoadKind::Closed { concurrency: 1, think_time: Nanos(0) };
    let window = WindowFacts { scenario: "s".into(), busiest_thread: Some(0.2), ..WindowFacts::default() };
    Facts { scenarios: vec![scenario(closed, 200)], windows: vec![window], ..Facts::default() }
}

fn verdict(rows: &[RequestRecord], facts: &Facts) -> Verdict {
    summarize_rows(rows, facts).unwrap_or_else(|e| panic!("{e}")).verdict
}

/// The run's verdict with its only reason.
#[track_caller]
fn only(rows: &[RequestRecord], facts: &Facts, code: &str, level: Level) {
    let verdict = verdict(rows, facts);
    let reasons: Vec<_> = verdict.reasons.iter().map(|r| (r.code.as_str(), r.level)).collect();
    assert_eq!(reasons, [(code, level)], "{verdict:?}");
    let status = match level {
        Level::Note => Status::Valid,
        Level::Doubtful => Status::Doubtful,
        Level::Invalid => Status::Invalid,
    };
    assert_eq!(verdict.status, status);
    let reason = &verdict.reasons[0];
    assert!(!reason.help.is_empty() && !reason.message.ends_with('.'), "{reason:?}");
}

fn each(change: impl Fn(usize, &mut RequestRecord)) -> Vec<RequestRecord> {
    let mut rows = good();
    rows.iter_mut().enumerate().for_each(|(i, row)| change(i, row));
    rows
}

#[test]
fn a_good_run_is_valid_without_a_word() {
    assert_eq!(verdict(&good(), &facts()), Verdict::default());
}

#[test]
fn failures() {
    let mut rows = good();
    rows[7] = failed(7, 350 * MS, 10 * MS, Outcome::HttpError);
    only(&rows, &facts(), "failures", Level::Invalid);
    let mut lenient = facts();
    lenient.scenarios[0].limits = Limits { max_failure_rate: 0.01, ..Limits::default() };
    only(&rows, &lenient, "failures", Level::Note);
    rows[7].outcome = Outcome::StaleConnection;
    rows.push(RequestRecord { attempt: 1, ..steady(7, 400 * MS, 10 * MS, 3 * MS, 10) });
    rows.last_mut().unwrap().scheduled = Nanos(400 * MS);
    only(&rows, &facts(), "stale-connections", Level::Note);
}

#[test]
fn too_few() {
    only(&good()[..150], &facts(), "fewer-requests", Level::Invalid);
    let mut by_time = facts();
    by_time.scenarios[0].load.as_mut().unwrap().duration = Some(Nanos::from_secs(7));
    assert_eq!(verdict(&good()[..150], &by_time).status, Status::Valid);
    only(&good()[..99], &by_time, "few-samples", Level::Doubtful);
    assert_eq!(verdict(&good()[..100], &by_time).status, Status::Valid);
    let none: Vec<_> = (0..200).map(|i| failed(i, i * MS, MS, Outcome::Reset)).collect();
    let reasons = verdict(&none, &facts()).reasons;
    assert_eq!(reasons.iter().map(|r| r.code.as_str()).collect::<Vec<_>>(), ["failures", "no-answers"]);
}

#[test]
fn schedule_lag() {
    let even = || Facts { scenarios: vec![scenario(LoadKind::Constant { rate: 20.0 }, 200)], ..facts() };
    let late =
        |ns: u64| each(move |i, row| row.scheduled = Nanos(row.sent.unwrap().0 - if i > 1 && i < 60 { ns } else { 0 }));
    only(&late(2 * MS), &even(), "schedule-lag", Level::Doubtful);
    assert_eq!(verdict(&late(900_000), &even()).status, Status::Valid);
    // More than 100 ms, and more than a hundredth of the 10 s.
    let mut hopeless = late(0);
    for row in &mut hopeless[100..120] {
        row.scheduled = Nanos(row.scheduled.0 - 150 * MS);
        row.admitted = Some(row.sent.unwrap());
    }
    only(&hopeless, &even(), "schedule-lag", Level::Invalid);
    // The same wait under a cap is what was asked for.
    let mut capped = even();
    capped.scenarios[0].load.as_mut().unwrap().max_concurrency = Some(1);
    only(&hopeless, &capped, "queue-wait", Level::Doubtful);
    // A burst, and the start of a closed loop, have until a hundredth of the window.
    let burst = Facts { scenarios: vec![scenario(LoadKind::Burst, 200)], ..facts() };
    assert_eq!(verdict(&late(40 * MS), &burst).status, Status::Valid);
    assert_eq!(verdict(&late(40 * MS), &facts()).status, Status::Valid);
}

#[test]
fn client_and_clock() {
    let mut busy = facts();
    busy.windows[0].busiest_thread = Some(0.71);
    only(&good(), &busy, "client-busy", Level::Doubtful);
    busy.windows[0].busiest_thread = Some(0.97);
    only(&good(), &busy, "client-busy", Level::Invalid);
    let mut stepped = facts();
    stepped.windows[0].clock_steps = 2;
    only(&good(), &stepped, "clock-step", Level::Doubtful);
    let backwards = |n: usize| {
        each(move |i, row| {
            if i < n {
                row.first_byte = Some(Nanos(row.end.0 + 1))
            }
        })
    };
    only(&backwards(1), &facts(), "clock-disorder", Level::Doubtful);
    only(&backwards(3), &facts(), "clock-disorder", Level::Invalid);
    let merged = each(|_, row| row.events.as_mut().unwrap().merged[..2].fill(true));
    only(&merged, &facts(), "merged-reads", Level::Doubtful);
    let read = each(|i, row| {
        if i == 0 {
            row.stamp = Some(Stamp::Read)
        }
    });
    only(&read, &facts(), "stamps-at-read", Level::Note);
}

#[test]
fn reads_that_lag() {
    let mut lagging = facts();
    // A quarter of the median ITL of 3 ms.
    lagging.windows[0].read_lag_p99 = Some(Nanos(760_000));
    only(&good(), &lagging, "read-lag", Level::Doubtful);
    lagging.windows[0].read_lag_p99 = Some(Nanos(740_000));
    assert_eq!(verdict(&good(), &lagging).reasons, []);
}

#[test]
fn loads_that_no_selftest_has_seen() {
    let mut run = facts();
    run.windows[0].events_per_s = Some(2000.0);
    run.windows[0].sends_per_s = Some(100.0);
    run.windows[0].transport = Some("epoll".into());
    only(&good(), &run, "no-selftest", Level::Note);
    let trust = |transport: &str, events_per_s, sends_per_s| {
        let trust = Trust { transport: transport.into(), events_per_s, streams: 64, sends_per_s };
        Facts { trust: Some(trust), ..run.clone() }
    };
    only(&good(), &trust("io_uring", 5000.0, 500.0), "no-selftest", Level::Note);
    assert_eq!(verdict(&good(), &trust("epoll", 5000.0, 500.0)).reasons, []);
    only(&good(), &trust("epoll", 1999.0, 500.0), "beyond-selftest", Level::Doubtful);
    only(&good(), &trust("epoll", 5000.0, 99.0), "beyond-selftest", Level::Doubtful);
}

#[test]
fn a_comb_of_40_ms() {
    // One gap in nine, a little off 40 ms as such timers are.
    let with = |gap: i64| {
        let mut rows: Vec<_> = (0..200).map(|i| steady(i, i * 100 * MS, 10 * MS, 3 * MS, 10)).collect();
        for (i, row) in rows.iter_mut().enumerate() {
            let by = gap - 3_000 + (i % 7) as i64 * 100;
            row.events.as_mut().unwrap().gap_us[5] += by;
            row.last_token = row.last_token.map(|t| Nanos(t.0 + by as u64 * 1000));
            row.end = Nanos(row.end.0 + by as u64 * 1000);
        }
        rows
    };
    only(&with(40_000), &facts(), "nagle", Level::Doubtful);
    assert_eq!(verdict(&with(30_000), &facts()).reasons, []);
    // An engine whose steps take about that long is no comb.
    let slow: Vec<_> = (0..200).map(|i| steady(i, i * 600 * MS, 10 * MS, 40 * MS, 10)).collect();
    let mut spread = slow;
    for (i, row) in spread.iter_mut().enumerate() {
        let mut sum = 0;
        for (k, gap) in row.events.as_mut().unwrap().gap_us.iter_mut().enumerate().skip(1) {
            let by = ((i * 31 + k * 17) % 160) as i64 * 100 - 8_000;
            *gap += by;
            sum += by;
        }
        row.last_token = row.last_token.map(|t| Nanos((t.0 as i64 + sum * 1000) as u64));
        row.end = Nanos((row.end.0 as i64 + sum * 1000) as u64);
    }
    assert_eq!(verdict(&spread, &facts()).reasons, []);
}

#[test]
fn prompts_and_cache() {
    // 6 tokens more for every prompt are a template; 9 for one in fifty are another prompt.
    let off = |by: u32| each(move |i, row| row.prompt_tokens = Some(if i % 50 < 2 { 16 + by } else { 16 }));
    only(&off(3), &facts(), "prompt-lengths", Level::Doubtful);
    assert_eq!(verdict(&off(2), &facts()).status, Status::Valid);
    only(&off(30), &facts(), "prompt-lengths", Level::Invalid);
    let cached = |n: u32| each(move |_, row| row.cached_tokens = Some(n));
    only(&cached(2), &facts(), "prefix-cache-warm", Level::Doubtful);
    assert_eq!(verdict(&cached(1), &facts()).status, Status::Valid);
    let again = each(|i, row| row.prompt_sha256 = Some(digest(i as u64 % 100)));
    only(&again, &facts(), "samples-reused", Level::Doubtful);
    let mut known = again;
    known.iter_mut().for_each(|row| row.cached_tokens = Some(0));
    only(&known, &facts(), "samples-reused", Level::Note);
}

#[test]
fn answers() {
    let buffered = |n: usize| {
        let mut rows = good();
        for (i, row) in rows.iter_mut().enumerate().take(n) {
            *row = steady(i as u64, i as u64 * 50 * MS, 40 * MS, 10_000, 10);
        }
        rows
    };
    only(&buffered(3), &facts(), "buffered-stream", Level::Doubtful);
    only(&buffered(101), &facts(), "buffered-stream", Level::Invalid);
    assert_eq!(verdict(&buffered(2), &facts()).status, Status::Valid);
    let mut rows = good();
    rows[0] = one_shot(0, 0, 40 * MS, 10);
    only(&rows, &facts(), "not-streamed", Level::Note);
    let by = |source| {
        each(move |i, row| {
            if i < 2 {
                row.token_source = Some(source)
            }
        })
    };
    only(&by(TokenSource::Events), &facts(), "tokens-by-events", Level::Doubtful);
    only(&by(TokenSource::Tokenizer), &facts(), "tokens-by-tokenizer", Level::Note);
    let unknown = each(|i, row| {
        if i < 2 {
            (row.output_tokens, row.token_source) = (None, None)
        }
    });
    only(&unknown, &facts(), "tokens-unknown", Level::Doubtful);
    only(&each(|_, row| row.output_tokens_asked = Some(12)), &facts(), "output-shorter", Level::Doubtful);
    assert_eq!(verdict(&each(|_, row| row.output_tokens_asked = Some(11)), &facts()).status, Status::Valid);
}

#[test]
fn the_run_itself() {
    only(&good(), &Facts { interrupted: true, ..facts() }, "interrupted", Level::Invalid);
    let killed = Facts { broken_off: Some("bench-host was killed".into()), ..facts() };
    only(&good(), &killed, "broken-off", Level::Invalid);
    only(&good(), &Facts { repeats: Some(2), ..facts() }, "not-run", Level::Invalid);
    only(&[], &facts(), "nothing-measured", Level::Invalid);
}

#[test]
fn the_worst_result_is_the_runs() {
    let mut rows = good();
    let mut second = good();
    second.iter_mut().for_each(|row| row.scenario = "t".into());
    second[0].outcome = Outcome::Aborted;
    rows.extend(second);
    let summary = summarize_rows(rows.as_slice(), &facts()).unwrap();
    assert_eq!(summary.results[0].verdict.status, Status::Valid);
    assert_eq!(summary.results[1].verdict.status, Status::Invalid);
    assert_eq!(summary.verdict.status, Status::Invalid);
    assert!(summary.verdict.reasons[0].message.starts_with("t: 1 of 200 requests failed (0.5 %"));
}
