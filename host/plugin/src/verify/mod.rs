//! Whether an adapter's answer is what the contract allows: nothing of it is used before.
//!
//! Every check says what is wrong, without naming the adapter; the caller does.

mod exchange;
mod launching;
mod manifest;
mod samples;

pub(crate) use exchange::{encoded, endpoints, stream_format};
pub(crate) use launching::{ports_needed, server_info, verified_plan};
pub(crate) use manifest::{dataset_manifest, engine_manifest};
pub(crate) use samples::{notes, samples};
