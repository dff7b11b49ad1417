//! Where rows come from.

use crate::error::ReportError;
use bench_core::record::RequestRecord;

/// Rows that can be gone through more than once, in the same order each time, without all being in memory.
pub trait RowSource {
    /// Hands each row to `visit`.
    fn for_each(&self, visit: &mut dyn FnMut(&RequestRecord)) -> Result<(), ReportError>;

    /// The same rows; what [`HEAD`] does not name may be missing in them, so that a source may save itself the work.
    fn for_each_head(&self, visit: &mut dyn FnMut(&RequestRecord)) -> Result<(), ReportError> {
        self.for_each(visit)
    }
}

/// Columns of the trace that [`RowSource::for_each_head`] gives: the group of a row, how it ended, and when.
pub const HEAD: [&str; 10] = [
    "scenario",
    "stage",
    "candidate",
    "repeat",
    "phase",
    "scheduled_ns",
    "sent_ns",
    "end_ns",
    "outcome",
    "http_status",
];

impl RowSource for [RequestRecord] {
    fn for_each(&self, visit: &mut dyn FnMut(&RequestRecord)) -> Result<(), ReportError> {
        self.iter().for_each(visit);
        Ok(())
    }
}
