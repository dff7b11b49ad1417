//! A small histogram of times for the client's own figures.

use bench_core::clock::Nanos;

/// Buckets of 1/16 octave: a percentile is at most 6 % too high.
const STEPS: u32 = 16;

/// Times in log-linear buckets.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    counts: Vec<u64>,
    greatest: Nanos,
    n: u64,
}

/// Percentiles of a spread; at most 6 % too high, the greatest exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpreadSummary {
    /// How many values.
    pub count: u64,
    /// Median.
    pub p50: Nanos,
    /// 99th percentile.
    pub p99: Nanos,
    /// Greatest.
    pub max: Nanos,
}

impl Spread {
    pub(crate) fn new() -> Spread {
        Spread { counts: vec![0; (64 * STEPS) as usize], greatest: Nanos::ZERO, n: 0 }
    }

    pub(crate) fn add(&mut self, value: Nanos) {
        self.counts[bucket(value.0)] += 1;
        self.greatest = self.greatest.max(value);
        self.n += 1;
    }

    pub(crate) fn merge(&mut self, other: &Spread) {
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
        self.greatest = self.greatest.max(other.greatest);
        self.n += other.n;
    }

    pub(crate) fn summary(&self) -> SpreadSummary {
        SpreadSummary { count: self.n, p50: self.percentile(50), p99: self.percentile(99), max: self.greatest }
    }

    fn percentile(&self, p: u64) -> Nanos {
        let rank = (self.n * p).div_ceil(100);
        let mut seen = 0;
        for (i, &count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank && count > 0 {
                return Nanos(top(i)).min(self.greatest);
            }
        }
        self.greatest
    }
}

fn bucket(v: u64) -> usize {
    if v < u64::from(STEPS) {
        return v as usize;
    }
    let octave = v.ilog2();
    let step = (v >> (octave - 4)) & u64::from(STEPS - 1);
    ((octave - 3) * STEPS) as usize + step as usize
}

/// Greatest value of a bucket.
fn top(bucket: usize) -> u64 {
    let (octave, step) = (bucket as u32 / STEPS, bucket as u64 % u64::from(STEPS));
    if octave == 0 {
        return step;
    }
    let width = 1u64 << (octave - 1);
    (u64::from(STEPS) + step) * width + (width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_their_values() {
        for v in [0, 1, 15, 16, 17, 31, 32, 33, 1000, 123_456_789, u64::MAX / 2] {
            let b = bucket(v);
            assert!(top(b) >= v && (b == 0 || top(b - 1) < v), "{v} in {b}: {}", top(b));
            assert!(top(b) as f64 <= v as f64 * 1.0625 + 1.0);
        }
    }

    #[test]
    fn percentiles_of_a_known_spread() {
        let mut s = Spread::new();
        (1..=1000).for_each(|v| s.add(Nanos(v * 1000)));
        let got = s.summary();
        assert!((500_000..=532_000).contains(&got.p50.0), "{got:?}");
        assert!((990_000..=1_000_000).contains(&got.p99.0), "{got:?}");
        assert_eq!((got.count, got.max), (1000, Nanos(1_000_000)));
        assert_eq!(Spread::new().summary(), SpreadSummary::default());
    }
}
