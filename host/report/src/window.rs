//! The time that throughput is counted over.

use crate::error::ReportError;
use crate::facts::Facts;
use crate::group::{GroupKey, Grouped};
use crate::source::RowSource;
use bench_core::clock::Nanos;
use bench_core::record::Phase;

/// From the schedule's zero (where it is not known, from the time that the first request was due) until the
/// last measured attempt was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Begin.
    pub start: Nanos,
    /// End.
    pub end: Nanos,
}

impl Window {
    /// Length in seconds; `None` where it has none.
    pub fn seconds(&self) -> Option<f64> {
        (self.end > self.start).then(|| self.end.saturating_sub(self.start).as_secs_f64())
    }
}

/// The window of each group; `None` for one without measured rows.
pub(crate) fn windows(
    source: &(impl RowSource + ?Sized),
    facts: &Facts,
) -> Result<Vec<(GroupKey, Option<Window>)>, ReportError> {
    let mut grouped: Grouped<Option<Window>> = Grouped::new();
    source.for_each_head(&mut |row| {
        let window = grouped.entry(row, |_| None);
        if row.phase != Phase::Measure {
            return;
        }
        let start = row.sent.map_or(row.scheduled, |sent| sent.min(row.scheduled));
        match window {
            Some(w) => *w = Window { start: w.start.min(start), end: w.end.max(row.end) },
            None => *window = Some(Window { start, end: row.end }),
        }
    })?;
    let mut windows = grouped.into_vec();
    for (key, window) in &mut windows {
        let zero = facts.window(&key.scenario, key.repeat).and_then(|w| w.start);
        if let (Some(window), Some(zero)) = (window, zero) {
            window.start = window.start.min(zero);
        }
    }
    Ok(windows)
}
