//! What can go wrong on the way to a summary.

use crate::identity::IdentityCheck;

/// No summary, or it could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The trace can't be read.
    #[error("can't read the trace: {0}")]
    Trace(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The rows contradict each other, so no figure of them can be trusted.
    #[error(
        "the figures of scenario `{scenario}` repeat {repeat} contradict each other, so they are not shown: {}; \
         keep the run directory and report it as a defect of bench-host",
        .broken.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    BrokenIdentity {
        /// Where.
        scenario: String,
        /// Number of the repeat, from 0.
        repeat: u32,
        /// Every identity that does not hold.
        broken: Vec<IdentityCheck>,
    },
    /// The report can't be written.
    #[error("can't write the report: {0}")]
    Write(#[from] std::io::Error),
}
