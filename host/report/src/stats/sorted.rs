//! Numbers in a list.

use super::Population;

/// Sum with Neumaier's compensation (A. Neumaier, 1974): exact to the last place or so, whatever the order.
pub fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for v in values {
        let next = sum + v;
        lost += if sum.abs() >= v.abs() { (sum - next) + v } else { (v - next) + sum };
        sum = next;
    }
    sum + lost
}

/// A population held as an ascending list.
#[derive(Clone, Debug, PartialEq)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts the values.
    pub fn new(mut values: Vec<f64>) -> Sorted {
        values.sort_unstable_by(f64::total_cmp);
        Sorted(values)
    }

    /// From whole numbers, such as nanoseconds; exact below 2^53.
    pub fn from_integers(values: &[i64]) -> Sorted {
        Sorted::new(values.iter().map(|v| *v as f64).collect())
    }
}

impl Population for Sorted {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn mean(&self) -> Option<f64> {
        if self.0.is_empty() {
            return None;
        }
        Some(sum(self.0.iter().copied()) / self.0.len() as f64)
    }

    fn std(&self) -> Option<f64> {
        let mean = self.mean()?;
        let squares = sum(self.0.iter().map(|v| (v - mean) * (v - mean)));
        Some((squares / self.0.len() as f64).sqrt())
    }

    fn rank(&self, index: u64) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        self.0.get(index.min(last)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::enough_for;

    #[test]
    fn small_lists_by_hand() {
        let s = Sorted::new(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!(s.mean(), Some(2.5));
        assert_eq!(s.std(), Some(1.25f64.sqrt()));
        assert_eq!(s.percentile(50.0), Some(2.5));
        assert_eq!(s.percentile(0.0), Some(1.0));
        assert_eq!(s.percentile(100.0), Some(4.0));
        // h = 3 * 0.9 = 2.7: past the half, so counted back from 4.
        assert_eq!(s.percentile(90.0), Some(4.0 - 1.0 * (1.0 - (3.0f64 * 0.9 - 2.0))));
        assert_eq!((s.min(), s.max()), (Some(1.0), Some(4.0)));
    }

    #[test]
    fn of_nothing_there_is_nothing_to_say() {
        let s = Sorted::new(Vec::new());
        assert_eq!((s.mean(), s.std(), s.percentile(50.0), s.max()), (None, None, None, None));
    }

    #[test]
    fn a_sum_keeps_what_plain_addition_loses() {
        assert_eq!(sum([1.0, 1e100, 1.0, -1e100]), 2.0);
    }

    #[test]
    fn how_many_a_percentile_takes() {
        for (q, n) in [(90.0, 10), (95.0, 20), (99.0, 100), (99.9, 1000)] {
            assert!(enough_for(q, n), "{q}");
            assert!(!enough_for(q, n - 1), "{q}");
        }
    }
}
