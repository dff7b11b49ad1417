//! Sums, moments and percentiles.

mod count_table;
mod distribution;
mod population;
mod sorted;

pub use count_table::{CountTable, Ranked};
pub use distribution::{Distribution, percentile_name};
pub use population::{Population, enough_for};
pub use sorted::{Sorted, sum};
