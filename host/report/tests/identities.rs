//! Identities hold for whatever was measured, and a report that breaks one is refused.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use bench_core::clock::Nanos;
use bench_core::decode::EventKind;
use bench_core::load::Slo;
use bench_core::outcome::Outcome;
use bench_core::random::PythonRandom;
use bench_core::record::{Phase, RequestRecord, TokenSource};
use bench_report::{Facts, ReportError, ScenarioFacts, format, summarize_rows};
use support::{failed, one_shot, steady, streamed};

/// Any trace that the client could write.
fn random_rows(random: &mut PythonRandom) -> Vec<RequestRecord> {
    let n = random.below(40);
    (0..n).map(|i| random_row(random, i)).collect()
}

fn random_row(random: &mut PythonRandom, request: u64) -> RequestRecord {
    let sent = random.below(3_000_000_000);
    let mut row = match random.below(6) {
        0 => one_shot(request, sent, random.below(1_000_000_000), random.below(50) as u32),
        1 => {
            let outcome = Outcome::ALL[random.below(Outcome::ALL.len() as u64) as usize];
            failed(request, sent, random.below(1_000_000_000), outcome)
        }
        _ => {
            let weighted = random.below(2) == 0;
            let mut at = 0;
            let events: Vec<_> = (0..random.below(30))
                .map(|_| {
                    at += random.below(20_000_000) * random.below(2);
                    let kind = EventKind::ALL[random.below(6) as usize];
                    let tokens = if kind.is_content() { 1 + random.below(4) as u16 } else { 0 };
                    (at, kind, weighted.then_some(tokens))
                })
                .collect();
            let mut row = streamed(request, sent - random.below(sent + 1) / 7, sent, &events);
            row.output_tokens = match random.below(4) {
                0 => Some(random.below(100) as u32),
                1 if row.outcome != Outcome::Complete => None,
                _ => row.output_tokens,
            };
            row
        }
    };
    if random.below(9) == 0 {
        row.prompt_tokens = None;
    }
    if random.below(9) == 0 {
        (row.output_tokens, row.token_source) = (None, None);
    }
    if random.below(12) == 0 {
        row.phase = Phase::Warmup;
    }
    row.repeat = random.below(2) as u32;
    row
}

#[test]
fn hold_for_any_trace() {
    let mut random = PythonRandom::new(20);
    let slo = Slo { ttft: Some(Nanos::from_millis(400)), e2e: Some(Nanos::from_secs(2)), ..Slo::default() };
    let facts = Facts {
        scenarios: vec![ScenarioFacts { name: "s".into(), slo, ..ScenarioFacts::default() }],
        ..Facts::default()
    };
    let (mut checks, mut peaks) = (0, 0);
    for round in 0..300 {
        let rows = random_rows(&mut random);
        let summary = summarize_rows(rows.as_slice(), &facts).unwrap_or_else(|e| panic!("round {round}: {e}"));
        for result in &summary.results {
            assert!(result.identities.iter().all(|i| i.holds));
            checks += result.identities.len();
            peaks += result.identities.iter().filter(|i| i.identity.starts_with("peak")).count();
        }
        // The same rows give the same bytes, and nothing that JSON can't hold.
        let (mut once, mut twice) = (Vec::new(), Vec::new());
        format::json::write(&summary, &mut once).unwrap();
        format::json::write(&summarize_rows(rows.as_slice(), &facts).unwrap(), &mut twice).unwrap();
        assert_eq!(once, twice);
        let read: bench_report::Summary = serde_json::from_slice(&once).unwrap();
        assert_eq!(read, summary);
    }
    assert!(checks > 4_000 && peaks > 100, "{checks} {peaks}");
}

fn refused(rows: &[RequestRecord]) -> String {
    match summarize_rows(rows, &Facts::default()) {
        Err(e @ ReportError::BrokenIdentity { .. }) => e.to_string(),
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_row_that_stands_twice() {
    let row = steady(0, 0, 1_000_000, 1_000_000, 3);
    let said = refused(&[row.clone(), row]);
    assert!(said.contains("different (request, attempt)") && said.contains("scenario `s`"), "{said}");
}

#[test]
fn gaps_that_end_elsewhere_than_the_last_token() {
    let mut row = steady(0, 0, 1_000_000, 1_000_000, 3);
    row.last_token = Some(Nanos(9_000_000));
    assert!(refused(&[row]).contains("leave their first or last token"));
}

#[test]
fn tokens_by_events_that_are_not_the_events() {
    let mut row = steady(0, 0, 1_000_000, 1_000_000, 3);
    (row.token_source, row.output_tokens) = (Some(TokenSource::Events), Some(4));
    assert!(refused(&[row]).contains("whose tokens are not their events"));
}

#[test]
fn first_tokens_without_a_last_one() {
    let mut row = steady(0, 0, 1_000_000, 1_000_000, 3);
    row.last_token = None;
    refused(&[row]);
}
