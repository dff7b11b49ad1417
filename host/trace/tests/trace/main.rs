//! The trace from its writer to its reader.

mod common;
mod crash;
mod errors;
mod format;
mod readme;
mod round_trip;
