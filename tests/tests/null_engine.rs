//! What an event costs the client besides time: allocations and system calls of its load threads, against the
//! simulated engine in this process.
#![allow(clippy::unwrap_used, reason = "a failure fails the test")]

use bench_core::clock::{MonotonicClock, Nanos};
use bench_core::decode::{DecodePlan, Framing, Rule, StreamFormat, Take};
use bench_core::load::{ArrivalProcess, Limits, LoadKind, LoadSpec};
use bench_core::record::Phase;
use bench_core::request::{Endpoint, PreparedRequest};
use bench_load::{Control, LoadJob, LoadStats, RowContext, Target, Transport, Trust};
use bench_sim::{SimConfig, SimServer, StepMode};
use bytes::Bytes;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Allocations of threads whose name begins with `load-`.
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

struct Counting;

impl Counting {
    fn count() {
        let mut name = [0u8; 16];
        // SAFETY: the kernel writes at most 16 bytes.
        unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
        if name.starts_with(b"load-") {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
    }
}

// SAFETY: everything is the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Counting::count();
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: by the caller.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Counting::count();
        // SAFETY: by the caller.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const STREAMS: u64 = 64;

fn load(url: &str, transport: Transport, tokens: u32) -> (LoadStats, u64) {
    let endpoint = Arc::new(Endpoint { method: "POST".into(), path: "/v1/chat/completions".into(), headers: vec![] });
    let body = Bytes::from(format!(
        r#"{{"model":"sim","messages":[{{"role":"user","content":"hi"}}],"stream":true,"max_tokens":{tokens}}}"#
    ));
    let prepared = |request| PreparedRequest {
        request,
        endpoint: endpoint.clone(),
        body: body.clone(),
        streaming: true,
        dataset_sample: "0".into(),
        prompt_sha256: [0; 32],
        prompt_text: None,
        prompt_tokens_asked: None,
        output_tokens_asked: None,
        session: None,
        turn: None,
    };
    let rule = |pointer: &str, take| Rule { pointer: pointer.to_owned(), take, cumulative: false };
    let rules =
        vec![rule("/choices/0/delta/content", Take::Text), rule("/choices/0/finish_reason", Take::FinishReason)];
    let job = LoadJob {
        spec: LoadSpec {
            kind: LoadKind::Closed { concurrency: STREAMS as u32, think_time: Nanos::ZERO },
            requests: Some(STREAMS * 2),
            duration: None,
            max_concurrency: None,
            process: ArrivalProcess::Bench,
        },
        limits: Limits::default(),
        targets: vec![Target { url: url.to_owned(), headers: vec![] }],
        requests: (0..STREAMS * 2).map(prepared).collect(),
        cycle: false,
        format: StreamFormat {
            framing: Framing::ServerSentEvents,
            done: Some("[DONE]".into()),
            plan: Some(DecodePlan { rules, finish_reasons: vec![] }),
        },
        decoder: None,
        counter: None,
        arrival_seed: 0,
        threads: Some(1),
        cores: Vec::new(),
        transport: Some(transport),
        cold: false,
        row: RowContext { scenario: "n".into(), stage: None, candidate: None, repeat: 0, phase: Phase::Measure },
        keep_text: false,
        secrets: Vec::new(),
        trust: Trust::default(),
    };
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let sink = |row: bench_core::record::RequestRecord| assert!(!row.outcome.is_failure(), "{row:#?}");
    let stats = bench_load::run(job, &MonotonicClock::start(), Box::new(sink), Arc::new(Control::new())).unwrap();
    (stats, ALLOCATIONS.load(Ordering::Relaxed) - before)
}

#[test]
fn an_event_costs_no_allocation_and_few_calls() {
    let config = SimConfig {
        ttft: Nanos::from_millis(5),
        itl: Nanos::from_millis(5),
        step: StepMode::Sync,
        ..SimConfig::default()
    };
    let sim = SimServer::spawn(config).unwrap();
    // Both in one test: the count is the process's.
    for (transport, most_calls) in [(Transport::Uring, 0.5), (Transport::Epoll, 1.6)] {
        if !transport.is_there() {
            continue;
        }
        let (few, allocations_few) = load(&sim.url(), transport, 20);
        let (many, allocations_many) = load(&sim.url(), transport, 220);
        let events = many.events - few.events;
        assert!(events >= STREAMS * 2 * 200, "{few:?} {many:?}");
        // Kept bytes grow by doubling, which is some allocations for each answer.
        let each = allocations_many.saturating_sub(allocations_few) as f64 / events as f64;
        assert!(each < 0.05, "{transport:?}: {each} allocations an event");
        let calls = many.syscalls.unwrap() as f64 / many.events as f64;
        assert!(calls < most_calls, "{transport:?}: {calls} system calls an event");
    }
    sim.stop().unwrap();
}
