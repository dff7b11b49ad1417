//! What a run's verdict means to a script.

use crate::exit::Exit;
use bench_report::{Level, Status, Summary};

/// The exit code of a run that came to its end.
pub(crate) fn exit(summary: &Summary) -> Exit {
    let verdict = &summary.verdict;
    let invalid = |code: &str| verdict.reasons.iter().any(|r| r.level == Level::Invalid && r.code == code);
    match verdict.status {
        Status::Valid | Status::Doubtful => Exit::Success,
        Status::Invalid if invalid("interrupted") => Exit::Interrupted,
        Status::Invalid if invalid("failures") => Exit::Failures,
        Status::Invalid => Exit::InvalidRun,
    }
}
