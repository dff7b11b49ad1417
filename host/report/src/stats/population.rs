//! What can be said of numbers that are known one by one.

/// A finite population of numbers, known exactly. All statistics are `None` for an empty one.
pub trait Population {
    /// How many there are.
    fn len(&self) -> u64;

    /// Arithmetic mean.
    fn mean(&self) -> Option<f64>;

    /// Standard deviation of the population (divisor n).
    fn std(&self) -> Option<f64>;

    /// The value at place `index` in ascending order, counted from 0; the last one where there are fewer.
    fn rank(&self, index: u64) -> Option<f64>;

    /// There are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Least value.
    fn min(&self) -> Option<f64> {
        self.rank(0)
    }

    /// Greatest value.
    fn max(&self) -> Option<f64> {
        self.rank(u64::MAX)
    }

    /// Percentile `q`, 0 to 100, by numpy's default ("linear") rule: with h = (n - 1) q / 100, between the
    /// values a and b at places floor(h) and floor(h) + 1, at t = h - floor(h): a + (b - a) t where t < 0.5,
    /// else b - (b - a)(1 - t).
    fn percentile(&self, q: f64) -> Option<f64> {
        let last = self.len().checked_sub(1)?;
        let h = last as f64 * (q / 100.0).clamp(0.0, 1.0);
        let place = h.floor();
        let t = h - place;
        let a = self.rank(place as u64)?;
        let b = self.rank(place as u64 + 1)?;
        Some(if t < 0.5 { a + (b - a) * t } else { b - (b - a) * (1.0 - t) })
    }
}

/// Whether `n` values bear percentile `q`: at least one of them is expected beyond it, n (1 - q/100) >= 1.
/// The 90th takes 10, the 95th 20, the 99th 100, the 99.9th 1000.
pub fn enough_for(q: f64, n: u64) -> bool {
    // 1 - 0.999 is a little less than a thousandth.
    n as f64 * (100.0 - q) / 100.0 >= 1.0 - 1e-9
}
