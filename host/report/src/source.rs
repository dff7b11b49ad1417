//! Where rows come from.

use crate::error::ReportError;
use bench_core::record::RequestRecord;

/// Rows that can be gone through more than once, in the same order each time, without all being in memory.
pub trait RowSource {
    /// Hands each row to `visit`.
    fn for_each(&self, visit: &mut dyn FnMut(&RequestRecord)) -> Result<(), ReportError>;
}

impl RowSource for [RequestRecord] {
    fn for_each(&self, visit: &mut dyn FnMut(&RequestRecord)) -> Result<(), ReportError> {
        self.iter().for_each(visit);
        Ok(())
    }
}
