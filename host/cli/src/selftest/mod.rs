//! How far this machine's client can be trusted: loads against the simulated engine with known times, at
//! rising load.

mod ladder;
mod measure;
mod stamps;
mod store;

pub(crate) use ladder::{ITL, Outcome, climb};
pub(crate) use store::{read, write};
