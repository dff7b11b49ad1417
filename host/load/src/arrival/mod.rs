//! Arrival times: pure functions of the load and a seed.

mod gamma;
mod vllm;

use bench_core::load::{ArrivalProcess, LoadKind, LoadSpec, RampShape};
use bench_core::random::NumpyGenerator;

/// When the requests of an open loop are due, in seconds from the load's start, ascending.
///
/// As many as `spec.requests` and `most` (the samples there are) allow, and only those before
/// `spec.duration`. Empty for a closed loop, for a rate that is not above zero, and where nothing bounds
/// their number. Under [`ArrivalProcess::Vllm011`] only the low 32 bits of the seed count, as that tool's
/// generator takes no more.
pub fn offsets(spec: &LoadSpec, seed: u64, most: Option<u64>) -> Vec<f64> {
    let count = match (spec.requests, most) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let duration = spec.duration.map(|d| d.as_secs_f64());
    if !is_drawable(&spec.kind) || (count.is_none() && duration.is_none()) {
        return Vec::new();
    }
    match spec.process {
        ArrivalProcess::Vllm011 => vllm::offsets(&spec.kind, seed as u32, count, duration),
        ArrivalProcess::Bench => bench(&spec.kind, seed, count, duration),
    }
}

fn is_drawable(kind: &LoadKind) -> bool {
    let above = |x: f64| x.is_finite() && x > 0.0;
    match *kind {
        LoadKind::Burst => true,
        LoadKind::Closed { .. } => false,
        LoadKind::Constant { rate } | LoadKind::Poisson { rate } => above(rate),
        LoadKind::Gamma { rate, burstiness } => above(rate) && above(burstiness),
        LoadKind::Ramp { start_rate, end_rate, shape, burstiness } => {
            let start = match shape {
                RampShape::Linear => start_rate.is_finite() && start_rate >= 0.0,
                RampShape::Exponential => above(start_rate),
            };
            start && above(end_rate) && above(burstiness)
        }
    }
}

fn bench(kind: &LoadKind, seed: u64, count: Option<u64>, duration: Option<f64>) -> Vec<f64> {
    let mut draws = NumpyGenerator::new(seed);
    let most = count.unwrap_or(u64::MAX);
    match *kind {
        LoadKind::Closed { .. } => Vec::new(),
        LoadKind::Burst => vec![0.0; count.unwrap_or(0) as usize],
        LoadKind::Constant { rate } => collect(most, duration, |i| i as f64 / rate),
        LoadKind::Poisson { rate } => collect(most, duration, sum_of(|| draws.exponential() / rate)),
        LoadKind::Gamma { rate, burstiness } => {
            collect(most, duration, sum_of(|| gamma::draw(&mut draws, burstiness) / (rate * burstiness)))
        }
        LoadKind::Ramp { start_rate, end_rate, shape, burstiness } => {
            let ramp = Ramp::new(start_rate, end_rate, shape, count, duration);
            let mut sum = sum_of(|| gamma::draw(&mut draws, burstiness) / burstiness);
            collect(most, duration, |i| ramp.time_of(sum(i)))
        }
    }
}

/// Running sum of gaps.
fn sum_of(mut gap: impl FnMut() -> f64) -> impl FnMut(u64) -> f64 {
    let mut t = 0.0;
    move |_| {
        t += gap();
        t
    }
}

fn collect(most: u64, duration: Option<f64>, mut at: impl FnMut(u64) -> f64) -> Vec<f64> {
    let mut times = Vec::new();
    for i in 0..most {
        let t = at(i);
        if duration.is_some_and(|d| t >= d) {
            break;
        }
        times.push(t);
    }
    times
}

/// A rate that changes with time: arrivals of a process with mean rate 1 are mapped through the inverse
/// of the expected number of arrivals up to a time, so that the rate holds at each moment exactly.
struct Ramp {
    start: f64,
    end: f64,
    shape: RampShape,
    /// Length, seconds.
    length: f64,
    /// Expected arrivals over the length.
    total: f64,
}

impl Ramp {
    /// Over `duration`, or else over the time that `count` arrivals take.
    fn new(start: f64, end: f64, shape: RampShape, count: Option<u64>, duration: Option<f64>) -> Ramp {
        let shape = if start == end { RampShape::Linear } else { shape };
        let mean = match shape {
            RampShape::Linear => f64::midpoint(start, end),
            RampShape::Exponential => (end - start) / (end / start).ln(),
        };
        let length = duration.unwrap_or_else(|| count.unwrap_or(0) as f64 / mean);
        Ramp { start, end, shape, length, total: mean * length }
    }

    /// When the expected number of arrivals reaches `arrivals`. After the ramp the end's rate goes on.
    fn time_of(&self, arrivals: f64) -> f64 {
        if arrivals >= self.total {
            return self.length + (arrivals - self.total) / self.end;
        }
        match self.shape {
            RampShape::Linear => {
                // start t + (end - start) t² / (2 length) = arrivals, in the form that is stable for a
                // small slope.
                let slope = (self.end - self.start) / self.length;
                2.0 * arrivals / (self.start + (self.start * self.start + 2.0 * slope * arrivals).max(0.0).sqrt())
            }
            RampShape::Exponential => {
                let growth = (self.end / self.start).ln() / self.length;
                (1.0 + arrivals * growth / self.start).ln() / growth
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_core::clock::Nanos;

    fn spec(kind: LoadKind, requests: Option<u64>, seconds: Option<u64>) -> LoadSpec {
        LoadSpec {
            kind,
            requests,
            duration: seconds.map(Nanos::from_secs),
            max_concurrency: None,
            process: ArrivalProcess::Bench,
        }
    }

    #[test]
    fn constant_is_even_and_ends_before_the_duration() {
        let t = offsets(&spec(LoadKind::Constant { rate: 4.0 }, None, Some(2)), 0, None);
        assert_eq!(t, [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75]);
    }

    #[test]
    fn a_seed_repeats_and_another_differs() {
        let s = spec(LoadKind::Poisson { rate: 10.0 }, Some(100), None);
        assert_eq!(offsets(&s, 7, None), offsets(&s, 7, None));
        assert_ne!(offsets(&s, 7, None), offsets(&s, 8, None));
        assert_eq!(offsets(&s, 7, Some(3)).len(), 3);
    }

    #[test]
    fn gaps_have_the_mean_and_spread_asked_for() {
        for burstiness in [0.3, 1.0, 4.0] {
            let n = 200_000u64;
            let t = offsets(&spec(LoadKind::Gamma { rate: 20.0, burstiness }, Some(n), None), 1, None);
            let gaps: Vec<f64> = t.iter().scan(0.0, |p, &t| Some(t - std::mem::replace(p, t))).collect();
            let mean = gaps.iter().sum::<f64>() / n as f64;
            let var = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n as f64;
            assert!((mean * 20.0 - 1.0).abs() < 0.02, "mean {mean} at {burstiness}");
            let expected = 1.0 / (400.0 * burstiness);
            assert!((var / expected - 1.0).abs() < 0.05, "variance {var} at {burstiness}");
        }
    }

    #[test]
    fn a_ramp_has_its_rates_where_they_belong() {
        for (shape, start, first_half) in
            [(RampShape::Linear, 0.0, 0.25), (RampShape::Exponential, 1.0, 1.0 / (1.0 + 100f64.sqrt()))]
        {
            let kind = LoadKind::Ramp { start_rate: start, end_rate: 100.0, shape, burstiness: 1.0 };
            let t = offsets(&spec(kind, None, Some(1000)), 3, None);
            assert!(t.windows(2).all(|w| w[0] <= w[1]) && t.iter().all(|&t| t < 1000.0));
            let half = t.iter().filter(|&&t| t < 500.0).count() as f64 / t.len() as f64;
            assert!((half - first_half).abs() < 0.02, "{shape:?}: {half}");
        }
    }

    #[test]
    fn a_ramp_by_requests_sends_them_all() {
        let kind = LoadKind::Ramp { start_rate: 5.0, end_rate: 5.0, shape: RampShape::Exponential, burstiness: 1000.0 };
        let t = offsets(&spec(kind, Some(100), None), 3, None);
        assert_eq!(t.len(), 100);
        assert!((t[99] - 20.0).abs() < 0.5, "{}", t[99]);
    }

    #[test]
    fn nothing_to_draw_is_empty() {
        assert!(offsets(&spec(LoadKind::Poisson { rate: -1.0 }, None, Some(1)), 0, None).is_empty());
        assert!(offsets(&spec(LoadKind::Poisson { rate: f64::NAN }, Some(4), None), 0, None).is_empty());
        assert!(offsets(&spec(LoadKind::Burst, None, None), 0, None).is_empty());
        assert_eq!(offsets(&spec(LoadKind::Burst, Some(3), None), 0, None), [0.0; 3]);
    }
}
