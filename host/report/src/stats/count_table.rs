//! Whole numbers by how often they occur.

use super::Population;
use std::collections::BTreeMap;

/// Values below this have a cell of their own: with µs, a second.
const DENSE: usize = 1 << 20;

/// An exact population of whole numbers (gaps in µs) whose size does not grow with their number: small
/// values count in a table, others in a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountTable {
    dense: Vec<u64>,
    sparse: BTreeMap<i64, u64>,
}

impl CountTable {
    /// Counts one value.
    pub fn add(&mut self, value: i64) {
        match usize::try_from(value) {
            Ok(cell) if cell < self.dense.len() => self.dense[cell] += 1,
            Ok(cell) if cell < DENSE => {
                // Grows by doubling, so that short runs take little memory.
                self.dense.resize((cell + 1).next_power_of_two(), 0);
                self.dense[cell] += 1;
            }
            _ => *self.sparse.entry(value).or_default() += 1,
        }
    }

    /// How many values lie in a range.
    pub fn between(&self, range: std::ops::Range<i64>) -> u64 {
        self.cells().filter(|(value, _)| range.contains(value)).map(|(_, count)| count).sum()
    }

    /// Sum of all values.
    pub fn sum(&self) -> i128 {
        self.total(i128::from)
    }

    /// Sum over all values of what `of` makes of each. The counts hold it, so that counting need not add.
    fn total(&self, of: impl Fn(i64) -> i128) -> i128 {
        let one = |(value, count)| of(value).saturating_mul(i128::from(count));
        self.cells().map(one).fold(0, i128::saturating_add)
    }

    /// Values with their counts, ascending.
    fn cells(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        let dense = self.dense.iter().enumerate().filter(|(_, n)| **n > 0).map(|(v, n)| (v as i64, *n));
        let below = self.sparse.range(..0).map(|(v, n)| (*v, *n));
        let above = self.sparse.range(0..).map(|(v, n)| (*v, *n));
        below.chain(dense).chain(above)
    }
}

/// The same population, ready to be asked: its different values, with the number of those up to each.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Ascending.
    cells: Vec<(i64, u64)>,
    n: u64,
    sum: i128,
    squares: i128,
}

impl CountTable {
    /// How many values were counted.
    pub fn len(&self) -> u64 {
        self.cells().map(|(_, count)| count).sum()
    }

    /// Nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.cells().next().is_none()
    }

    /// Ready to be asked for percentiles.
    pub fn ranked(&self) -> Ranked {
        let up_to = |before: &mut u64, (value, count): (i64, u64)| {
            *before += count;
            Some((value, *before))
        };
        Ranked {
            cells: self.cells().scan(0, up_to).collect(),
            n: self.len(),
            sum: self.sum(),
            squares: self.total(|value| i128::from(value) * i128::from(value)),
        }
    }
}

impl Population for Ranked {
    fn len(&self) -> u64 {
        self.n
    }

    fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / self.n as f64)
    }

    fn std(&self) -> Option<f64> {
        if self.n == 0 {
            return None;
        }
        let n = i128::from(self.n);
        // Integers as long as they fit: the difference of two great squares loses nothing.
        let scaled = n
            .checked_mul(self.squares)
            .zip(self.sum.checked_mul(self.sum))
            .map(|(a, b)| (a - b) as f64)
            .unwrap_or_else(|| n as f64 * self.squares as f64 - (self.sum as f64).powi(2));
        Some(scaled.max(0.0).sqrt() / self.n as f64)
    }

    fn rank(&self, index: u64) -> Option<f64> {
        let index = index.min(self.n.checked_sub(1)?);
        let place = self.cells.partition_point(|(_, up_to)| *up_to <= index);
        self.cells.get(place).map(|(value, _)| *value as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Sorted;
    use bench_core::random::PythonRandom;

    #[test]
    fn says_the_same_as_a_list() {
        let mut random = PythonRandom::new(7);
        let mut table = CountTable::default();
        let mut list = Vec::new();
        for i in 0..5000 {
            let scale = if i % 10 == 0 { 5e6 } else { 3e4 };
            let v = (random.random() * scale) as i64 - 200;
            table.add(v);
            list.push(v as f64);
        }
        let (table, list) = (table.ranked(), Sorted::new(list));
        assert!((table.mean().unwrap() - list.mean().unwrap()).abs() < 1e-6);
        assert!((table.std().unwrap() / list.std().unwrap() - 1.0).abs() < 1e-12);
        for q in [0.0, 1.0, 33.3, 50.0, 90.0, 99.0, 99.9, 100.0] {
            assert_eq!(table.percentile(q), list.percentile(q), "{q}");
        }
    }

    #[test]
    fn extreme_values_do_not_panic() {
        let mut table = CountTable::default();
        for v in [i64::MIN, i64::MAX, i64::MAX, 0, -1] {
            table.add(v);
        }
        let table = table.ranked();
        assert_eq!(table.min(), Some(i64::MIN as f64));
        assert_eq!(table.percentile(50.0), Some(0.0));
        assert!(table.std().unwrap() > 0.0);
    }
}
