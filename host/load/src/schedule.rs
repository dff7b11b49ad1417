//! What is sent when: the arrival times of an open loop, or the slots of a closed one.

use crate::arrival;
use crate::job::{LoadError, LoadJob};
use bench_core::clock::Nanos;
use bench_core::load::LoadKind;

/// Requests that are due this soon find their connections open.
const SOON: Nanos = Nanos::from_millis(50);
/// Opening a connection takes no longer than this in most networks.
const OPENING: Nanos = Nanos::from_millis(5);

/// A load's schedule.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// Due times from the load's start, ascending, one for each request.
    Open { due: Vec<Nanos>, most_in_flight: Option<u32> },
    /// A fixed number of slots; each sends its next request when its answer has ended.
    Closed { slots: u32, think: Nanos, requests: Option<u64> },
}

impl Schedule {
    pub(crate) fn of(job: &LoadJob) -> Result<Schedule, LoadError> {
        let spec = &job.spec;
        let samples = (!job.cycle).then_some(job.requests.len() as u64);
        if let LoadKind::Closed { concurrency, think_time } = spec.kind {
            let requests = match (spec.requests, samples) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            if concurrency == 0 || (requests.is_none() && spec.duration.is_none()) {
                return Err(LoadError::NoArrival(spec.kind.word()));
            }
            let slots = spec.max_concurrency.map_or(concurrency, |most| most.clamp(1, concurrency));
            return Ok(Schedule::Closed { slots, think: think_time, requests });
        }
        // A burst is bound by its samples alone.
        let samples = samples.or((spec.kind == LoadKind::Burst).then_some(job.requests.len() as u64));
        let due: Vec<Nanos> =
            arrival::offsets(spec, job.arrival_seed, samples).into_iter().map(Nanos::from_secs_f64).collect();
        if due.is_empty() {
            return Err(LoadError::NoArrival(spec.kind.word()));
        }
        Ok(Schedule::Open { due, most_in_flight: spec.max_concurrency.filter(|&m| m > 0) })
    }

    /// Connections that are worth opening before the load: one for each request that starts with it or soon after.
    pub(crate) fn at_once(&self) -> u64 {
        match self {
            Schedule::Closed { slots, requests, .. } => u64::from(*slots).min(requests.unwrap_or(u64::MAX)),
            Schedule::Open { due, most_in_flight } => {
                let first = due.iter().take_while(|&&d| d <= SOON).count() as u64;
                first.min(most_in_flight.map_or(u64::MAX, u64::from))
            }
        }
    }

    /// Idle connections that are worth keeping while an open loop goes on: for what is due while one is
    /// opened.
    pub(crate) fn reserve(&self) -> usize {
        let Schedule::Open { due, most_in_flight: None } = self else { return 0 };
        let Some(last) = due.last().filter(|last| **last > SOON) else { return 0 };
        let rate = due.len() as f64 / last.as_secs_f64();
        (rate * OPENING.as_secs_f64()).ceil() as usize
    }

    /// Pause of a slot between an answer and its next request.
    pub(crate) fn think(&self) -> Nanos {
        match self {
            Schedule::Closed { think, .. } => *think,
            Schedule::Open { .. } => Nanos::ZERO,
        }
    }
}
