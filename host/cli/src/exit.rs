//! Exit codes: what a script that calls bench-host can rely on.

use std::process::ExitCode;

/// How a command ended. The number is the process's exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done; a run is valid (or doubtful, which the report says).
    Success = 0,
    /// bench-host itself failed: a fault of its own, or of the disk.
    Internal = 1,
    /// The command line, the workload or other input is wrong. Nothing has run.
    BadInput = 2,
    /// The run is INVALID: its figures must not be used.
    InvalidRun = 3,
    /// More requests failed than the workload's `max-failure-rate` allows.
    Failures = 4,
    /// The engine could not be launched or attached to, or is not the one asked for.
    Launch = 5,
    /// The user interrupted; what happened until then is in the trace.
    Interrupted = 130,
}

impl Exit {
    /// Every exit code with its meaning, for the reference.
    pub const TABLE: [(Exit, &'static str); 7] = [
        (Exit::Success, "done; a run is valid (or doubtful, which the report says)"),
        (Exit::Internal, "a fault of bench-host itself, or of the disk"),
        (Exit::BadInput, "the command line, the workload or other input is wrong; nothing has run"),
        (Exit::InvalidRun, "the run is INVALID: its figures must not be used"),
        (Exit::Failures, "more requests failed than `max-failure-rate` allows"),
        (Exit::Launch, "the engine could not be launched or attached to, or is not the one asked for"),
        (Exit::Interrupted, "interrupted by the user; what happened until then is in the trace"),
    ];
}

impl From<Exit> for ExitCode {
    fn from(e: Exit) -> ExitCode {
        ExitCode::from(e as u8)
    }
}
