//! The trace from its writer to its reader.
#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod common;
mod crash;
mod errors;
mod format;
mod readme;
mod round_trip;
