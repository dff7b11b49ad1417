//! The arrival rule of `vllm bench serve` 0.11, bit for bit.

use bench_core::load::{LoadKind, RampShape};
use bench_core::random::NumpyLegacy;

/// Gaps are gamma draws of numpy's legacy generator, summed, so that the first request waits too.
/// Without a ramp the sums are scaled so that the last is `count / rate`. Constant gaps are that rule's
/// limit of no burstiness. Where only a duration is given, `rate * duration` are drawn.
pub(super) fn offsets(kind: &LoadKind, seed: u32, count: Option<u64>, duration: Option<f64>) -> Vec<f64> {
    let count = count.unwrap_or_else(|| (mean_rate(kind) * duration.unwrap_or(0.0)).floor() as u64);
    let mut draws = NumpyLegacy::new(seed);
    let mut gap = |rate: f64, burstiness: f64| draws.gamma(burstiness, 1.0 / (rate * burstiness));
    let mut sum = 0.0;
    let mut times: Vec<f64> = (0..count)
        .map(|i| {
            sum += match *kind {
                LoadKind::Burst | LoadKind::Closed { .. } => 0.0,
                LoadKind::Constant { rate } => 1.0 / rate,
                LoadKind::Poisson { rate } => gap(rate, 1.0),
                LoadKind::Gamma { rate, burstiness } => gap(rate, burstiness),
                LoadKind::Ramp { start_rate, end_rate, shape, burstiness } => {
                    let progress = i as f64 / (count.saturating_sub(1)).max(1) as f64;
                    let rate = match shape {
                        RampShape::Linear => start_rate + (end_rate - start_rate) * progress,
                        RampShape::Exponential => start_rate * (end_rate / start_rate).powf(progress),
                    };
                    gap(rate, burstiness)
                }
            };
            sum
        })
        .collect();
    if let LoadKind::Constant { rate } | LoadKind::Poisson { rate } | LoadKind::Gamma { rate, .. } = *kind
        && let Some(&last) = times.last()
        && last != 0.0
    {
        let factor = count as f64 / rate / last;
        for t in &mut times {
            *t *= factor;
        }
    }
    if let Some(duration) = duration {
        times.retain(|&t| t < duration);
    }
    times
}

fn mean_rate(kind: &LoadKind) -> f64 {
    match *kind {
        LoadKind::Burst | LoadKind::Closed { .. } => 0.0,
        LoadKind::Constant { rate } | LoadKind::Poisson { rate } | LoadKind::Gamma { rate, .. } => rate,
        LoadKind::Ramp { start_rate, end_rate, .. } => f64::midpoint(start_rate, end_rate),
    }
}
