//! From the trace's files to the summary's.

use crate::diagnostics::Failure;
use bench_report::{Summary, format};
use bench_trace::{RunDir, Trace};

/// Reads the trace back and writes `summary.json`: what `bench-host report` computes, from the same files.
pub(super) fn summarize(dir: &RunDir) -> Result<(Trace, Summary), Failure> {
    let trace = Trace::open(dir.path()).map_err(|e| Failure::internal("failed to read the trace back").because(&e))?;
    let summary =
        bench_report::summarize(&trace).map_err(|e| Failure::internal("the trace gives no summary").because(&e))?;
    let mut json = Vec::new();
    format::json::write(&summary, &mut json)
        .map_err(|e| Failure::internal("failed to write the summary").because(&e))?;
    dir.write_file("summary.json", &json).map_err(|e| Failure::internal("failed to write the summary").because(&e))?;
    Ok((trace, summary))
}
