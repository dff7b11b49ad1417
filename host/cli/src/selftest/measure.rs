//! One load against the simulated engine, and how far the client's times were from the engine's own.

use super::stamps::{ReadStamps, Sent};
use bench_core::clock::{Clock, MonotonicClock, Nanos};
use bench_core::decode::{Framing, StreamFormat};
use bench_core::load::{ArrivalProcess, Limits, LoadKind, LoadSpec};
use bench_core::record::{Phase, RequestRecord};
use bench_core::request::{Endpoint, PreparedRequest};
use bench_load::{Control, LoadError, LoadJob, LoadStats, RowContext, Target, Trust};
use bench_workload::ClientPlan;
use bytes::Bytes;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// What is asked of the engine and of the client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) kind: TrialKind,
    /// Events of each answer.
    pub(super) events: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum TrialKind {
    /// So many streams at once, each one request.
    Streams(u32),
    /// Requests a second, over so long.
    Sends(f64, Nanos),
}

/// What came of it. Times in µs, 99th percentiles.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) failed: u64,
    pub(super) requests: u64,
    /// From the engine's stamp of an event to the client's, either way.
    pub(super) event_error: Option<f64>,
    /// The same of each stream's first event.
    pub(super) first_error: Option<f64>,
    pub(super) lateness: f64,
    pub(super) read_lag: f64,
    pub(super) merged: f64,
    /// CPU share of the busiest load thread.
    pub(super) busiest: f64,
    /// Events a second from the first to the last.
    pub(super) events_per_s: f64,
    pub(super) transport: &'static str,
}

/// Runs one trial.
///
/// # Errors
/// The load can't run.
pub(super) fn measure(url: &str, client: &ClientPlan, trial: Trial) -> Result<Measured, LoadError> {
    let sent = Sent::default();
    let job = job(url, client, trial, sent.clone());
    let clock = MonotonicClock::start();
    let to_real = real_at_zero(&clock);
    let rows: Arc<Mutex<Vec<RequestRecord>>> = Arc::default();
    let sink = rows.clone();
    let sink = move |row| sink.lock().unwrap_or_else(PoisonError::into_inner).push(row);
    let stats = bench_load::run(job, &clock, Box::new(sink), Arc::new(Control::new()))?;
    let rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
    let sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut all, mut first) = (Vec::new(), Vec::new());
    let (mut earliest, mut latest) = (u64::MAX, 0);
    for row in rows.iter() {
        let (Some(asked), Some(events), Some(stamps)) = (row.sent, &row.events, sent.get(&row.request)) else {
            continue;
        };
        for (i, (after_us, stamp)) in events.times_us().zip(stamps).enumerate() {
            let ours = (asked.0 as i64 + after_us * 1000) as u64;
            let theirs = stamp.saturating_sub(to_real);
            let error = ours.abs_diff(theirs) as f64 / 1e3;
            all.push(error);
            if i == 0 {
                first.push(error);
            }
            (earliest, latest) = (earliest.min(ours), latest.max(ours));
        }
    }
    Ok(figures(&rows, &stats, (p99(&mut all), p99(&mut first)), latest.saturating_sub(earliest)))
}

fn figures(
    rows: &[RequestRecord],
    stats: &LoadStats,
    (event_error, first_error): (Option<f64>, Option<f64>),
    span: u64,
) -> Measured {
    let us = |t: Nanos| t.0 as f64 / 1e3;
    let shares = stats.threads.iter().map(|t| t.cpu.0 as f64 / t.wall.0.max(1) as f64);
    Measured {
        failed: rows.iter().filter(|r| r.outcome.is_failure()).count() as u64,
        requests: rows.len() as u64,
        event_error,
        first_error,
        lateness: us(stats.send_lateness.p99),
        read_lag: us(stats.read_lag.p99),
        merged: stats.merged_share().unwrap_or(0.0),
        busiest: shares.fold(0.0, f64::max),
        events_per_s: if span > 0 { stats.events as f64 * 1e9 / span as f64 } else { 0.0 },
        transport: stats.transport.as_str(),
    }
}

fn job(url: &str, client: &ClientPlan, trial: Trial, sent: Sent) -> LoadJob {
    let (kind, requests) = match trial.kind {
        TrialKind::Streams(n) => (LoadKind::Burst, u64::from(n)),
        TrialKind::Sends(rate, time) => (LoadKind::Poisson { rate }, (rate * time.as_secs_f64()).ceil() as u64),
    };
    let endpoint =
        Arc::new(Endpoint { method: "POST".into(), path: "/v1/chat/completions".into(), headers: Vec::new() });
    let body = Bytes::from(format!(
        r#"{{"model":"sim","messages":[{{"role":"user","content":"hello"}}],"stream":true,"max_tokens":{}}}"#,
        trial.events
    ));
    let prepared = |request| PreparedRequest {
        request,
        endpoint: endpoint.clone(),
        body: body.clone(),
        streaming: true,
        dataset_sample: "selftest".into(),
        prompt_sha256: [0; 32],
        prompt_text: None,
        prompt_tokens_asked: None,
        output_tokens_asked: Some(trial.events),
        session: None,
        turn: None,
    };
    LoadJob {
        spec: LoadSpec {
            kind,
            requests: Some(requests),
            duration: None,
            max_concurrency: None,
            process: ArrivalProcess::Bench,
        },
        limits: Limits { request_timeout: Nanos::from_secs(60), ..Limits::default() },
        targets: vec![Target { url: url.to_owned(), headers: Vec::new() }],
        requests: (0..requests).map(prepared).collect(),
        cycle: false,
        format: StreamFormat { framing: Framing::ServerSentEvents, done: Some("[DONE]".into()), plan: None },
        decoder: Some(Box::new(ReadStamps(sent))),
        counter: None,
        arrival_seed: 1,
        threads: client.threads.map(|n| n as usize),
        cores: client.cores.iter().map(|core| *core as usize).collect(),
        transport: client.transport.as_deref().and_then(bench_load::Transport::named),
        cold: false,
        row: RowContext { scenario: "selftest".into(), stage: None, candidate: None, repeat: 0, phase: Phase::Measure },
        keep_text: false,
        secrets: Vec::new(),
        trust: Trust::default(),
    }
}

/// The real-time clock at the run's zero, ns: the best of some samples.
fn real_at_zero(clock: &MonotonicClock) -> u64 {
    let sample = |_| {
        let before = clock.now();
        let real = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
        let after = clock.now();
        (after - before, real - u64::midpoint(before.0, after.0))
    };
    (0..32).map(sample).min().map_or(0, |(_, at_zero)| at_zero)
}

/// The 99th percentile; `None` of nothing.
fn p99(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get((values.len() * 99).div_ceil(100).saturating_sub(1)).copied()
}
