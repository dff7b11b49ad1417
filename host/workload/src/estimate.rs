//! How much a plan is, before anything runs.

use crate::plan::{Plan, ScenarioPlan};
use bench_core::clock::Nanos;
use bench_core::load::{LoadKind, LoadSpec, RampShape};

impl Plan {
    /// Requests of all scenarios and repeats that will be sent at least, warm-up apart.
    /// For random arrivals under a `duration` it is the number to be expected.
    pub fn requests_at_least(&self) -> u64 {
        let once: u64 = self.scenarios.iter().map(ScenarioPlan::requests_at_least).fold(0, u64::saturating_add);
        once.saturating_mul(u64::from(self.repeats))
    }

    /// The least time that the loads take, all scenarios and repeats, launch and warm-up apart; what is
    /// not known counts as nothing.
    pub fn least_duration(&self) -> Nanos {
        let once = self.scenarios.iter().filter_map(ScenarioPlan::least_duration).fold(Nanos::ZERO, |a, b| a + b);
        Nanos(once.0.saturating_mul(u64::from(self.repeats)))
    }
}

impl ScenarioPlan {
    /// Requests that one repeat will send at least; for random arrivals under a `duration` the number to be expected.
    pub fn requests_at_least(&self) -> u64 {
        let arrived = self.load.duration.map(|d| match self.load.kind {
            // Each slot sends one at once; how many follow depends on the engine.
            LoadKind::Closed { concurrency, .. } => u64::from(concurrency),
            _ => (d.as_secs_f64() * self.load.mean_rate().unwrap_or(0.0)).floor() as u64,
        });
        match (self.load.requests, arrived) {
            (Some(n), Some(m)) => n.min(m),
            (Some(n), None) => n,
            (None, m) => m.unwrap_or(0),
        }
    }

    /// The least time that one repeat takes; for random arrivals the time to be expected until the last
    /// request is sent. `None` where it depends on the engine alone.
    pub fn least_duration(&self) -> Option<Nanos> {
        let sending = match (self.load.requests, self.load.mean_rate()) {
            (Some(n), Some(rate)) => Some(Nanos::from_secs_f64(n as f64 / rate)),
            _ => None,
        };
        match (sending, self.load.duration) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (Some(a), None) => Some(a),
            // Closed, stopped by both: the requests may be over long before.
            (None, Some(_)) if self.load.requests.is_some() => None,
            (None, b) => b,
        }
    }
}

/// What follows from a load's numbers.
trait MeanRate {
    /// Requests a second over the whole load; `None` where there is no rate.
    fn mean_rate(&self) -> Option<f64>;
}

impl MeanRate for LoadSpec {
    fn mean_rate(&self) -> Option<f64> {
        match self.kind {
            LoadKind::Burst | LoadKind::Closed { .. } => None,
            LoadKind::Constant { rate } | LoadKind::Poisson { rate } | LoadKind::Gamma { rate, .. } => Some(rate),
            LoadKind::Ramp { start_rate, end_rate, shape: RampShape::Linear, .. } => {
                Some((start_rate + end_rate) / 2.0)
            }
            LoadKind::Ramp { start_rate, end_rate, shape: RampShape::Exponential, .. } => {
                let steps = (end_rate / start_rate).ln();
                Some(if steps == 0.0 { start_rate } else { (end_rate - start_rate) / steps })
            }
        }
    }
}
