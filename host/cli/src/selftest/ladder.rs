//! The trials, one after another, and what they show.

use super::measure::{Measured, Trial, TrialKind, measure};
use bench_core::clock::Nanos;
use bench_load::LoadError;
use bench_trace::{SelfTest, SelfTestStep};
use bench_workload::ClientPlan;

/// Streams at once, each with an event every [`ITL`].
const STREAMS: &[u32] = &[16, 64, 256, 500, 1000, 2000, 3000, 4000, 6000, 8000];
/// Requests a second.
const SENDS: &[f64] = &[100.0, 500.0, 1000.0, 2000.0, 5000.0, 10_000.0];
/// What the engine is told to keep between two events.
pub(crate) const ITL: Nanos = Nanos::from_millis(20);
/// Greatest error of a time that may still be called right, µs.
const ERROR_US: f64 = 1000.0;
/// Greatest lag of reads behind the kernel.
const LAG_US: f64 = ITL.0 as f64 / 4.0 / 1000.0;
/// Greatest CPU share of a load thread.
const BUSY: f64 = 0.70;
/// Greatest share of events that shared a read. An answer's last two events come together.
const MERGED: f64 = 0.05;

/// What a self-test found.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// What it is stored as.
    pub(crate) result: SelfTest,
    /// Why it went no further with streams, and with sends.
    pub(crate) ended: [String; 2],
}

/// Climbs until a trial shows that the client can't be trusted any more; `tell` hears of each.
///
/// # Errors
/// A load can't run.
pub(crate) fn climb(
    url: &str,
    client: &ClientPlan,
    quick: bool,
    measured: String,
    tell: &mut dyn FnMut(&SelfTestStep),
) -> Result<Outcome, LoadError> {
    let events = if quick { 25 } else { 100 };
    let time = if quick { Nanos::from_millis(500) } else { Nanos::from_secs(2) };
    let mut result = SelfTest {
        measured,
        transport: String::new(),
        threads: client.threads.unwrap_or(1),
        streams: 0,
        events_per_s: 0.0,
        sends_per_s: 0.0,
        steps: Vec::new(),
    };
    let streams = STREAMS.iter().map(|n| Trial { kind: TrialKind::Streams(*n), events });
    let sends = SENDS.iter().map(|rate| Trial { kind: TrialKind::Sends(*rate, time), events: 2 });
    let streams_end = trials(url, client, streams, &mut result, tell)?;
    let sends_end = trials(url, client, sends, &mut result, tell)?;
    Ok(Outcome { result, ended: [streams_end, sends_end] })
}

fn trials(
    url: &str,
    client: &ClientPlan,
    trials: impl Iterator<Item = Trial>,
    result: &mut SelfTest,
    tell: &mut dyn FnMut(&SelfTestStep),
) -> Result<String, LoadError> {
    for trial in trials {
        let got = measure(url, client, trial)?;
        got.transport.clone_into(&mut result.transport);
        let fault = fault(&got, &trial);
        let step = step(&got, &trial, fault.clone());
        tell(&step);
        result.steps.push(step);
        if let Some(fault) = fault {
            return Ok(fault);
        }
        match trial.kind {
            TrialKind::Streams(n) => {
                result.streams = n;
                result.events_per_s = got.events_per_s;
            }
            TrialKind::Sends(rate, _) => result.sends_per_s = rate,
        }
    }
    Ok("the last trial was passed".to_owned())
}

fn step(got: &Measured, trial: &Trial, fault: Option<String>) -> SelfTestStep {
    let (streams, sends_per_s) = match trial.kind {
        TrialKind::Streams(n) => (Some(n), None),
        TrialKind::Sends(rate, _) => (None, Some(rate)),
    };
    SelfTestStep {
        streams,
        sends_per_s,
        events_per_s: got.events_per_s,
        event_error_p99_us: got.event_error,
        ttft_error_p99_us: got.first_error,
        send_lateness_p99_us: got.lateness,
        read_lag_p99_us: got.read_lag,
        merged_share: got.merged,
        busiest_thread: got.busiest,
        fault,
    }
}

/// Why a trial shows that the client can't be trusted.
fn fault(got: &Measured, trial: &Trial) -> Option<String> {
    if got.failed > 0 {
        return Some(format!("{} of {} requests failed", got.failed, got.requests));
    }
    let over = |what: &str, value: f64, limit: f64| {
        (value > limit).then(|| format!("{what} {value:.0} µs at the 99th percentile, where {limit:.0} is the limit"))
    };
    let error = |what: &str, value: Option<f64>| match value {
        None => Some(format!("{what} could not be measured")),
        Some(value) => over(what, value, ERROR_US),
    };
    let busy = (got.busiest > BUSY).then(|| format!("a load thread used {:.0} % of a core", got.busiest * 100.0));
    if matches!(trial.kind, TrialKind::Sends(..)) {
        return over("sends were late by", got.lateness, ERROR_US).or(busy);
    }
    error("events' times are wrong by", got.event_error)
        .or_else(|| error("first events' times are wrong by", got.first_error))
        .or_else(|| over("reads lagged by", got.read_lag, LAG_US))
        .or_else(|| {
            let share = got.merged * 100.0;
            (got.merged > MERGED).then(|| format!("{share:.1} % of the events shared a read"))
        })
        .or(busy)
}
