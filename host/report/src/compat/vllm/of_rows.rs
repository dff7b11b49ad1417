//! The tool's blocks of a trace.

use super::{BlockOptions, Tally, Version, block, success};
use crate::error::ReportError;
use crate::facts::{Facts, ScenarioFacts};
use crate::group::{GroupKey, Grouped};
use crate::source::RowSource;
use crate::stats::CountTable;
use crate::window::windows;
use bench_core::load::LoadKind;
use bench_core::outcome::Outcome;
use bench_core::record::{Phase, RequestRecord};

/// The block of each scenario and repeat, as `version` would print it of the same rows.
///
/// # Errors
/// Where the trace can't be read.
pub fn blocks(
    source: &(impl RowSource + ?Sized),
    facts: &Facts,
    version: Version,
) -> Result<Vec<(GroupKey, String)>, ReportError> {
    let windows = windows(source, facts)?;
    let mut first_starts: Grouped<f64> = Grouped::new();
    let mut visit = |row: &RequestRecord| {
        if row.phase == Phase::Measure
            && let Some(s) = success(version, row)
        {
            let first = first_starts.entry(row, |_| s.start_s);
            *first = first.min(s.start_s);
        }
    };
    match version {
        // Whether a request is a success, and when it was sent, does not hang on its events.
        Version::V0_11 => source.for_each_head(&mut visit)?,
        Version::V0_33 => source.for_each(&mut visit)?,
    }
    let mut tallies: Grouped<(Tally<CountTable>, u64)> = Grouped::new();
    source.for_each(&mut |row| {
        if row.phase != Phase::Measure || row.outcome == Outcome::StaleConnection {
            return;
        }
        let (tally, failed) = tallies.entry(row, |key| {
            let slo = facts.scenario(&key.scenario).map(|s| s.slo).unwrap_or_default();
            (Tally::new(first_starts.get(key).copied().unwrap_or_default(), slo), 0)
        });
        match success(version, row) {
            Some(s) => tally.add(&s),
            None => *failed += 1,
        }
    })?;
    let blocks = tallies.into_vec().into_iter().filter_map(|(key, (tally, failed))| {
        let window = windows.iter().find(|(k, _)| *k == key).and_then(|(_, window)| *window)?;
        let options = facts.scenario(&key.scenario).map(options).unwrap_or_default();
        let text = block(version, &options, &tally.finish(window.seconds()?, failed));
        Some((key, text))
    });
    Ok(blocks.collect())
}

fn options(scenario: &ScenarioFacts) -> BlockOptions {
    let Some(load) = &scenario.load else { return BlockOptions::default() };
    let (concurrency, request_rate) = match load.kind {
        LoadKind::Closed { concurrency, .. } => (Some(concurrency), None),
        LoadKind::Constant { rate } | LoadKind::Poisson { rate } | LoadKind::Gamma { rate, .. } => (None, Some(rate)),
        LoadKind::Burst | LoadKind::Ramp { .. } => (None, None),
    };
    BlockOptions { max_concurrency: load.max_concurrency.or(concurrency), request_rate }
}
