//! What is kept of the rows of one group: a few columns, whatever the number of events.

mod answer;
mod buckets;
mod evidence;
mod flight;
mod slo;
mod tally;
mod tokens;

pub use answer::Answer;
pub use buckets::Buckets;
pub use evidence::Evidence;
pub use flight::Flight;
pub use slo::{SloCounts, SloLine};
pub use tally::{Columns, Tally};
pub use tokens::{Known, TokenTotals};
