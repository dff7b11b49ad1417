//! Rows for tests.
#![allow(dead_code, reason = "each test uses some of it")]

use bench_core::clock::Nanos;
use bench_core::decode::EventKind;
use bench_core::outcome::Outcome;
use bench_core::record::{Events, Phase, RequestRecord, Stamp, TokenSource};
use std::path::PathBuf;

/// A complete streamed answer without events: all numbers that a test does not care for.
pub(crate) fn row(request: u64) -> RequestRecord {
    RequestRecord {
        scenario: "s".into(),
        stage: None,
        candidate: None,
        repeat: 0,
        request,
        attempt: 0,
        session: None,
        turn: None,
        replica: 0,
        worker: 0,
        phase: Phase::Measure,
        dataset_sample: None,
        prompt_sha256: Some(digest(request)),
        scheduled: Nanos(0),
        admitted: None,
        sent: None,
        first_byte: None,
        first_token: None,
        first_content: None,
        last_token: None,
        end: Nanos(0),
        stamp: Some(Stamp::Kernel),
        stamp_lag: None,
        events: None,
        streamed: Some(true),
        prompt_tokens_asked: None,
        prompt_tokens: None,
        cached_tokens: None,
        output_tokens_asked: None,
        output_tokens: None,
        reasoning_tokens: None,
        token_source: None,
        outcome: Outcome::Complete,
        http_status: Some(200),
        finish_reason: Some("stop".into()),
        error: None,
        bytes_sent: 100,
        bytes_received: 1000,
        connection_reused: Some(true),
        dns: None,
        connect: None,
        tls: None,
        output_sha256: None,
        prompt_text: None,
        output_text: None,
        reasoning_text: None,
    }
}

pub(crate) fn digest(n: u64) -> [u8; 32] {
    let mut digest = [7; 32];
    digest[..8].copy_from_slice(&n.to_be_bytes());
    digest
}

/// A streamed answer: events as (ns since sent, kind, tokens), the end 50 µs after the last.
pub(crate) fn streamed(
    request: u64,
    scheduled: u64,
    sent: u64,
    events: &[(u64, EventKind, Option<u16>)],
) -> RequestRecord {
    let at = |ns: u64| Nanos(sent + ns);
    let times: Vec<Nanos> = events.iter().map(|e| at(e.0)).collect();
    let content = || events.iter().filter(|e| e.1.is_content());
    let tokens: Option<Vec<u16>> = events.iter().map(|e| e.2).collect();
    let last = events.last().map_or(sent, |e| sent + e.0);
    RequestRecord {
        scheduled: Nanos(scheduled),
        admitted: Some(Nanos(scheduled)),
        sent: Some(Nanos(sent)),
        first_byte: times.first().copied(),
        first_token: content().next().map(|e| at(e.0)),
        first_content: content().find(|e| e.1 != EventKind::Reasoning).map(|e| at(e.0)),
        last_token: content().next_back().map(|e| at(e.0)),
        end: Nanos(last + 50_000),
        stamp_lag: Some(Nanos(20_000)),
        events: Some(Events {
            gap_us: Events::gaps_from_times(Nanos(sent), &times),
            tokens,
            merged: vec![false; events.len()],
            kind: events.iter().map(|e| e.1).collect(),
        }),
        output_tokens: Some(content().count() as u32),
        token_source: Some(TokenSource::Usage),
        prompt_tokens: Some(16),
        prompt_tokens_asked: Some(10),
        ..row(request)
    }
}

/// A streamed answer of `n` text events of one token: the first after `ttft`, then one each `itl`, ns.
pub(crate) fn steady(request: u64, sent: u64, ttft: u64, itl: u64, n: u64) -> RequestRecord {
    let events: Vec<_> = (0..n).map(|i| (ttft + i * itl, EventKind::Text, Some(1))).collect();
    streamed(request, sent, sent, &events)
}

/// An answer that was not streamed.
pub(crate) fn one_shot(request: u64, sent: u64, took: u64, tokens: u32) -> RequestRecord {
    RequestRecord {
        scheduled: Nanos(sent),
        admitted: Some(Nanos(sent)),
        sent: Some(Nanos(sent)),
        first_byte: Some(Nanos(sent + took)),
        end: Nanos(sent + took),
        streamed: Some(false),
        output_tokens: Some(tokens),
        token_source: Some(TokenSource::Usage),
        prompt_tokens: Some(16),
        prompt_tokens_asked: Some(10),
        ..row(request)
    }
}

/// An attempt that failed after `took`.
pub(crate) fn failed(request: u64, sent: u64, took: u64, outcome: Outcome) -> RequestRecord {
    RequestRecord {
        outcome,
        http_status: None,
        finish_reason: None,
        output_tokens: None,
        token_source: None,
        ..one_shot(request, sent, took, 0)
    }
}

pub(crate) fn data(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(path)
}

/// Compares with a checked-in file, or writes it when `BENCH_BLESS` is set.
pub(crate) fn golden(path: &str, text: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BENCH_BLESS").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == text, "`{path}` is stale; `BENCH_BLESS=1 cargo test -p bench-report` writes it anew. Now:\n{text}");
}

pub(crate) fn close(a: f64, b: f64, relative: f64, what: &str) {
    assert!((a - b).abs() <= relative * a.abs().max(b.abs()), "{what}: {a} against {b}");
}
