//! Figures of small traces, computed by hand.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use bench_core::clock::Nanos;
use bench_core::decode::EventKind::{Other, Reasoning, Role, Text, Tool, Usage};
use bench_core::load::Slo;
use bench_core::outcome::Outcome;
use bench_core::record::{Phase, RequestRecord, TokenSource};
use bench_report::stats::Distribution;
use bench_report::{Facts, ScenarioFacts, ScenarioResult, Summary, WindowFacts, summarize_rows};
use support::{failed, one_shot, row, steady, streamed};

const MS: u64 = 1_000_000;

fn summary(rows: &[RequestRecord], facts: &Facts) -> Summary {
    summarize_rows(rows, facts).unwrap_or_else(|e| panic!("{e}"))
}

fn result(rows: &[RequestRecord]) -> ScenarioResult {
    summary(rows, &Facts::default()).results.remove(0)
}

fn value(r: &ScenarioResult, id: &str) -> Option<f64> {
    r.figures[id].value
}

fn spread<'a>(r: &'a ScenarioResult, id: &str) -> &'a Distribution {
    r.figures[id].distribution.as_ref().unwrap_or_else(|| panic!("no `{id}`"))
}

/// Due at 1 ms, sent at 3 ms; role at 50, reasoning at 100 and 110, text at 130 (two tokens) and 150, an empty
/// last chunk at 151, usage at 160, all ms since sent.
fn one_answer() -> RequestRecord {
    let events = [
        (50 * MS, Role, Some(0)),
        (100 * MS, Reasoning, Some(1)),
        (110 * MS, Reasoning, Some(1)),
        (130 * MS, Text, Some(2)),
        (150 * MS, Text, Some(1)),
        (151 * MS, Other, Some(0)),
        (160 * MS, Usage, Some(0)),
    ];
    RequestRecord { output_tokens: Some(5), reasoning_tokens: Some(2), ..streamed(0, MS, 3 * MS, &events) }
}

#[test]
fn times_of_one_answer() {
    let r = result(&[one_answer()]);
    assert_eq!(spread(&r, "ttft").mean, 100.0);
    assert_eq!(spread(&r, "ttfo").mean, 130.0);
    assert_eq!(spread(&r, "e2e").mean, 150.0);
    assert_eq!(spread(&r, "response_time").mean, 152.0);
    assert_eq!(spread(&r, "send_lateness").mean, 2.0);
    // (150 - 100) / (5 - 1)
    assert_eq!(spread(&r, "tpot").mean, 12.5);
    // 10, 20, 20: neither the role chunk nor what follows the last token.
    assert_eq!(r.figures["itl"].n, 3);
    assert_eq!((spread(&r, "itl").min, spread(&r, "itl").median, spread(&r, "itl").max), (10.0, 20.0, 20.0));
    assert_eq!(value(&r, "tokens_per_event"), Some(1.25));
    assert_eq!(value(&r, "reasoning_tokens"), Some(2.0));
}

#[test]
fn tpot_takes_the_first_events_tokens_off() {
    let three_first = streamed(0, 0, 0, &[(100 * MS, Text, Some(3)), (140 * MS, Text, Some(2))]);
    let r = result(&[RequestRecord { output_tokens: Some(5), ..three_first.clone() }]);
    assert_eq!(spread(&r, "tpot").mean, 20.0);
    assert_eq!(r.tokens.answers_without_event_tokens, 0);
    // Where the events don't say, the first is one token, and the summary says so.
    let unknown = streamed(0, 0, 0, &[(100 * MS, Text, None), (140 * MS, Text, None)]);
    let r = result(&[RequestRecord { output_tokens: Some(5), ..unknown }]);
    assert_eq!(spread(&r, "tpot").mean, 10.0);
    assert_eq!(r.tokens.answers_without_event_tokens, 1);
    // Undefined for one event, and where all tokens came with the first.
    let single = RequestRecord { output_tokens: Some(5), ..streamed(0, 0, 0, &[(100 * MS, Text, Some(5))]) };
    let all_first = RequestRecord { output_tokens: Some(3), ..three_first };
    for row in [single, all_first] {
        let r = result(&[row]);
        assert_eq!((r.figures["tpot"].n, r.figures["tpot"].distribution.is_none()), (0, true));
        assert_eq!(r.figures["ttft"].n, 1);
    }
}

#[test]
fn an_answer_that_was_not_streamed_has_an_end_only() {
    let r = result(&[one_shot(0, 5 * MS, 200 * MS, 7)]);
    assert_eq!(spread(&r, "e2e").mean, 200.0);
    assert!(["ttft", "ttfo", "tpot", "itl"].iter().all(|id| r.figures[*id].n == 0));
    assert_eq!(r.requests.not_streamed, 1);
    assert_eq!(value(&r, "output_throughput"), Some(35.0));
    assert_eq!(value(&r, "peak_output_throughput"), Some(35.0));
}

#[test]
fn a_tool_call_is_an_output_and_a_finish_without_content_has_no_times() {
    let r = result(&[streamed(0, 0, 0, &[(20 * MS, Reasoning, Some(1)), (30 * MS, Tool, Some(1))])]);
    assert_eq!(spread(&r, "ttfo").mean, 30.0);
    let r = result(&[streamed(0, 0, 0, &[(20 * MS, Role, Some(0)), (30 * MS, Usage, Some(0))])]);
    assert_eq!((r.requests.complete, r.figures["e2e"].n, r.figures["ttft"].n), (1, 0, 0));
    assert_eq!(value(&r, "output_tokens"), Some(0.0));
}

/// Two answers of 10 tokens in 2 s, one failure: 1 / 4 s each.
#[test]
fn rates_count_complete_requests_over_the_window() {
    let rows = [
        steady(0, 0, 100 * MS, 100 * MS, 10),
        steady(1, 1000 * MS, 500 * MS, 50 * MS, 10),
        failed(2, 100 * MS, 3900 * MS, Outcome::Timeout),
    ];
    let r = result(&rows);
    assert_eq!(r.window.as_ref().unwrap().duration_s, 4.0);
    assert_eq!(value(&r, "request_throughput"), Some(0.5));
    assert_eq!(value(&r, "output_throughput"), Some(5.0));
    assert_eq!(value(&r, "total_throughput"), Some(13.0));
    // Tokens at 0.1 ... 0.9 and 1.0: nine in the first second; 1.0 and 1.5 ... 1.95 in the second.
    assert_eq!(value(&r, "peak_output_throughput"), Some(11.0));
    assert_eq!(value(&r, "failure_rate"), Some(1.0 / 3.0));
    // In flight: 1.00005 + 0.95005 + 3.9 of 4 s.
    assert!((value(&r, "concurrency_mean").unwrap() - 5.8501 / 4.0).abs() < 1e-9);
    assert_eq!(value(&r, "concurrency_peak"), Some(3.0));
    assert_eq!(r.outcomes["timeout"], 1);
    assert_eq!(r.outcomes.values().sum::<u64>(), 3);
}

#[test]
fn the_window_starts_at_the_schedules_zero() {
    let facts = Facts {
        windows: vec![WindowFacts { scenario: "s".into(), start: Some(Nanos(0)), ..WindowFacts::default() }],
        ..Facts::default()
    };
    let row = RequestRecord { end: Nanos(2_000 * MS), ..steady(0, 1_000 * MS, 100 * MS, 100 * MS, 4) };
    let r = summary(&[row], &facts).results.remove(0);
    assert_eq!(value(&r, "request_throughput"), Some(0.5));
}

/// 2.9 s are two buckets, of 1 s and 1.9 s: the sliver of 0.9 s makes no peak of its own.
#[test]
fn the_last_bucket_takes_the_rest() {
    let row = RequestRecord { end: Nanos(2_900 * MS), ..steady(0, 0, 500 * MS, 100 * MS, 24) };
    let r = result(&[row]);
    // 0.5 ... 0.9 in the first second, 19 in the other 1.9 s.
    assert_eq!(value(&r, "peak_output_throughput"), Some(10.0));
}

#[test]
fn an_events_weight_moves_tokens_between_seconds() {
    let events = [(100 * MS, Text, Some(1)), (1_200 * MS, Text, Some(9)), (1_950 * MS, Text, Some(2))];
    let r = result(&[RequestRecord { output_tokens: Some(12), end: Nanos(2_000 * MS), ..streamed(0, 0, 0, &events) }]);
    assert_eq!(value(&r, "peak_output_throughput"), Some(11.0));
    // Without weights 12 tokens are spread over three events.
    let events = events.map(|(t, kind, _)| (t, kind, None));
    let r = result(&[RequestRecord { output_tokens: Some(12), end: Nanos(2_000 * MS), ..streamed(0, 0, 0, &events) }]);
    assert_eq!(value(&r, "peak_output_throughput"), Some(8.0));
}

#[test]
fn what_is_not_known_of_every_answer_is_null() {
    let unknown = RequestRecord { output_tokens: None, token_source: None, ..one_shot(1, 0, 100 * MS, 0) };
    let r = result(&[one_shot(0, 0, 100 * MS, 5), unknown]);
    for id in ["output_throughput", "total_throughput", "peak_output_throughput", "goodput", "cached_tokens"] {
        assert_eq!(value(&r, id), None, "{id}");
    }
    assert_eq!((value(&r, "output_tokens"), r.figures["output_tokens"].n), (Some(5.0), 1));
    let json = serde_json::to_value(&r).unwrap();
    assert!(json["figures"]["output_throughput"]["value"].is_null());
    assert!(json["figures"]["ttft"]["distribution"].is_null());
}

#[test]
fn goodput_asks_for_every_limit() {
    let slo = Slo {
        ttft: Some(Nanos(100 * MS)),
        tpot: Some(Nanos(20 * MS)),
        itl: Some(Nanos(30 * MS)),
        e2e: Some(Nanos(1_000 * MS)),
    };
    let facts = Facts {
        scenarios: vec![ScenarioFacts { name: "s".into(), slo, ..ScenarioFacts::default() }],
        ..Facts::default()
    };
    let rows = [
        steady(0, 0, 100 * MS, 20 * MS, 10),
        steady(1, 0, 101 * MS, 20 * MS, 10),
        // Mean 20 ms, but one gap of 31.
        streamed(2, 0, 0, &[(50 * MS, Text, Some(1)), (81 * MS, Text, Some(1)), (90 * MS, Text, Some(1))]),
        // One event: no gap and no TPOT that could break a limit.
        steady(3, 0, 50 * MS, 0, 1),
        one_shot(4, 0, 100 * MS, 5),
        RequestRecord { end: Nanos(2_000 * MS), ..failed(5, 0, 0, Outcome::Reset) },
        failed(6, 0, 0, Outcome::StaleConnection),
    ];
    let r = summary(&rows, &facts).results.remove(0);
    let line = |figure: &str| r.slo.iter().find(|s| s.figure == figure).map(|s| (s.met, s.of)).unwrap();
    assert_eq!(line("ttft"), (3, 6));
    assert_eq!(line("tpot"), (4, 6));
    assert_eq!(line("itl"), (3, 6));
    assert_eq!(line("e2e"), (5, 6));
    assert_eq!(value(&r, "goodput"), Some(1.0));
}

#[test]
fn other_phases_and_stale_connections_stay_apart() {
    let mut warm = steady(0, 0, 900 * MS, MS, 4);
    warm.phase = Phase::Warmup;
    let mut probe = one_shot(0, 0, MS, 1);
    probe.phase = Phase::Probe;
    let stale = failed(0, 2_000 * MS, MS, Outcome::StaleConnection);
    let again =
        RequestRecord { attempt: 1, scheduled: Nanos(2_000 * MS), ..steady(0, 2_010 * MS, 100 * MS, 10 * MS, 4) };
    let r = result(&[warm, probe, stale, again]);
    assert_eq!((r.requests.warmup, r.requests.probe, r.requests.stale_connections), (1, 1, 1));
    assert_eq!((r.requests.requests, r.requests.attempts, r.requests.complete), (1, 2, 1));
    assert_eq!(value(&r, "failure_rate"), Some(0.0));
    assert_eq!(spread(&r, "ttft").max, 100.0);
    // From when it was first due, not from the second attempt.
    assert_eq!(spread(&r, "response_time").max, 140.0);
    assert_eq!(r.window.as_ref().unwrap().start_ns, 2_000 * MS);
}

#[test]
fn totals_by_source_and_by_who_counted() {
    let mut rows = vec![steady(0, 0, MS, 10 * MS, 4), steady(1, 0, MS, 10 * MS, 6), steady(2, 0, MS, 10 * MS, 2)];
    rows[1].token_source = Some(TokenSource::Tokenizer);
    rows[1].prompt_tokens = None;
    rows[2].cached_tokens = Some(3);
    rows[2].output_tokens_asked = Some(8);
    let r = result(&rows);
    assert_eq!(r.tokens.output_by_source, [("tokenizer".to_owned(), 6), ("usage".to_owned(), 6)].into());
    assert_eq!(value(&r, "prompt_tokens_asked"), Some(30.0));
    assert_eq!((value(&r, "prompt_tokens_server"), r.figures["prompt_tokens_server"].n), (Some(32.0), 2));
    assert_eq!(value(&r, "prompt_tokens"), Some(42.0));
    assert_eq!((value(&r, "cached_tokens"), r.figures["cached_tokens"].n), (Some(3.0), 1));
    assert_eq!(value(&r, "output_tokens_asked"), Some(8.0));
    assert_eq!(r.tokens.prompt_overhead, Some(6.0));
}

#[test]
fn results_come_by_scenario_and_repeat() {
    let mut rows = vec![steady(0, 0, MS, MS, 2), steady(0, 0, MS, MS, 3), steady(0, 0, MS, MS, 4)];
    rows[1].repeat = 1;
    rows[2].scenario = "t".into();
    let summary = summary(&rows, &Facts::default());
    let places: Vec<_> = summary.results.iter().map(|r| (r.scenario.as_str(), r.repeat)).collect();
    assert_eq!(places, [("s", 0), ("s", 1), ("t", 0)]);
    assert_eq!(value(&summary.results[2], "output_tokens"), Some(4.0));
}

#[test]
fn a_run_without_rows_has_nothing_but_a_verdict() {
    let nothing = summary(&[], &Facts::default());
    assert!(nothing.results.is_empty());
    assert_eq!(nothing.verdict.status.to_string(), "INVALID");
    let mut warm = row(0);
    warm.phase = Phase::Warmup;
    let warm = summary(&[warm], &Facts::default()).results.remove(0);
    assert!(warm.window.is_none());
    assert_eq!(value(&warm, "failure_rate"), None);
    assert_eq!(value(&warm, "request_throughput"), None);
}

#[test]
fn percentiles_that_the_workload_asks_for() {
    let rows: Vec<_> = (0..101).map(|i| steady(i, 0, i * MS, MS, 2)).collect();
    let facts = Facts { percentiles: vec![50.0, 75.0, 99.0, 99.99], ..Facts::default() };
    let summary = summary(&rows, &facts);
    assert_eq!(summary.percentiles, [50.0, 75.0, 99.0, 99.99]);
    let ttft = spread(&summary.results[0], "ttft");
    assert_eq!((ttft.get("p50"), ttft.get("p75"), ttft.get("p99")), (Some(50.0), Some(75.0), Some(99.0)));
    assert!((ttft.get("p99_99").unwrap() - 99.99).abs() < 1e-9);
    assert_eq!((ttft.get("p75_5"), ttft.others.len()), (None, 2));
    assert_eq!(ttft.weak, ["p99_9", "p99_99"]);
}
