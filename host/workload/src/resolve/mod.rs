//! From values to a plan: what must be there, what goes together, and what holds by default.

mod engine;
mod load;
mod read;
mod scenario;

pub(crate) use load::KINDS;
pub use read::read;
