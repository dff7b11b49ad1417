//! The statistics that a summary shows of a population.

use super::{Population, enough_for};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name of a percentile as it stands in a summary: `p90`, `p99_9`.
pub fn percentile_name(q: f64) -> String {
    format!("p{q}").replace('.', "_")
}

/// Statistics of a figure's values, in the figure's unit. Percentiles are exact, by numpy's linear rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of the population.
    pub std: f64,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
    /// 50th percentile.
    pub median: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p99_9: f64,
    /// Percentiles that the workload asks for beside these, by name (`p75`, `p99_99`).
    pub others: BTreeMap<String, f64>,
    /// Percentiles that rest on too few values: fewer than one is expected beyond them.
    pub weak: Vec<String>,
}

impl Distribution {
    /// Names of the statistics, in the order of [`Distribution::values`].
    pub const NAMES: [&'static str; 9] = ["mean", "std", "min", "max", "median", "p90", "p95", "p99", "p99_9"];

    /// The percentiles among them that need many values.
    pub const PERCENTILES: [(&'static str, f64); 4] = [("p90", 90.0), ("p95", 95.0), ("p99", 99.0), ("p99_9", 99.9)];

    /// Of a population whose values are `per_unit` to the shown unit (1e6 for ns shown as ms), with the
    /// percentiles `asked` for; `None` for an empty one.
    pub fn of(population: &dyn Population, per_unit: f64, asked: &[f64]) -> Option<Distribution> {
        let at = |q| population.percentile(q).map(|v| v / per_unit);
        let fixed = Distribution::PERCENTILES.map(|(name, q)| (name.to_owned(), q));
        let others: Vec<(String, f64)> = asked
            .iter()
            .map(|q| (percentile_name(*q), *q))
            .filter(|(name, _)| name != "p50" && fixed.iter().all(|(known, _)| known != name))
            .collect();
        let weak = fixed
            .iter()
            .chain(&others)
            .filter(|(_, q)| !enough_for(*q, population.len()))
            .map(|(name, _)| name.clone())
            .collect();
        Some(Distribution {
            mean: population.mean()? / per_unit,
            std: population.std()? / per_unit,
            min: population.min()? / per_unit,
            max: population.max()? / per_unit,
            median: at(50.0)?,
            p90: at(90.0)?,
            p95: at(95.0)?,
            p99: at(99.0)?,
            p99_9: at(99.9)?,
            others: others.iter().map(|(name, q)| Some((name.clone(), at(*q)?))).collect::<Option<_>>()?,
            weak,
        })
    }

    /// The statistics in the order of [`Distribution::NAMES`].
    pub fn values(&self) -> [f64; 9] {
        [self.mean, self.std, self.min, self.max, self.median, self.p90, self.p95, self.p99, self.p99_9]
    }

    /// A statistic by its name.
    pub fn get(&self, name: &str) -> Option<f64> {
        let fixed = Distribution::NAMES.iter().zip(self.values()).find(|(known, _)| **known == name);
        match name {
            "p50" => Some(self.median),
            _ => fixed.map(|(_, value)| value).or_else(|| self.others.get(name).copied()),
        }
    }

    /// The statistic rests on too few values.
    pub fn is_weak(&self, name: &str) -> bool {
        self.weak.iter().any(|w| w == name)
    }
}
