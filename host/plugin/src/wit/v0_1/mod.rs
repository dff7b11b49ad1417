//! Version 0.1.0 of the contract.

mod bindings;
mod dataset;
mod engine;
mod from_guest;
mod hosted;
mod launching;
mod to_guest;

pub(crate) use bindings::{VERSION, imports};
pub(crate) use dataset::Dataset;
pub(crate) use engine::Engine;
