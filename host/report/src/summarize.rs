//! From rows to a summary.

use crate::columns::Columns;
use crate::error::ReportError;
use crate::facts::{Facts, ScenarioFacts};
use crate::group::{GroupKey, Grouped};
use crate::identity;
use crate::metric::{FIGURES, Measured};
use crate::source::RowSource;
use crate::stats::Distribution;
use crate::summary::{
    FORMAT, Figure, Figures, LoadLine, RequestCounts, ScenarioResult, SloResult, Summary, TokenLine, WindowLine,
};
use crate::verdict::{self, Verdict};
use crate::window::{Window, windows};
use bench_core::load::{LoadKind, LoadSpec};
use bench_core::outcome::Outcome;

/// The summary of a run: a pure function of its rows and facts. Goes through the rows once, before that through their
/// heads, and keeps some hundred bytes a request, nothing an event.
///
/// # Errors
/// Where the trace can't be read, and where figures contradict each other: such a report is refused.
pub fn summarize_rows(source: &(impl RowSource + ?Sized), facts: &Facts) -> Result<Summary, ReportError> {
    let windows = windows(source, facts)?;
    let mut grouped: Grouped<Columns> = Grouped::new();
    source.for_each(&mut |row| {
        let columns = grouped.entry(row, |key| {
            let known = windows.iter().find(|(k, _)| k == key).and_then(|(_, window)| *window);
            let window = known.unwrap_or(Window { start: row.scheduled, end: row.scheduled });
            Columns::new(window, &facts.scenario(&key.scenario).map(|s| s.slo).unwrap_or_default(), &facts.percentiles)
        });
        columns.add(row);
    })?;
    let mut results = Vec::new();
    for (key, columns) in grouped.into_vec() {
        results.push(result(&key, &columns, facts)?);
    }
    let verdict = Verdict::of_run(facts, &results);
    let percentiles = match facts.percentiles.as_slice() {
        [] => Distribution::PERCENTILES.iter().map(|(_, q)| *q).collect(),
        asked => asked.to_vec(),
    };
    Ok(Summary { format: FORMAT.to_owned(), run: facts.run.clone(), percentiles, verdict, results })
}

fn result(key: &GroupKey, columns: &Columns, facts: &Facts) -> Result<ScenarioResult, ReportError> {
    let scenario = facts.scenario(&key.scenario);
    let figures = figures(columns);
    let identities = identity::checks(columns, &figures);
    if identities.iter().any(|i| !i.holds) {
        return Err(ReportError::BrokenIdentity {
            scenario: key.scenario.to_string(),
            repeat: key.repeat,
            broken: identities.into_iter().filter(|i| !i.holds).collect(),
        });
    }
    let verdict = verdict::judge(&verdict::Case {
        columns,
        figures: &figures,
        scenario: scenario.unwrap_or(&ScenarioFacts::default()),
        window: facts.window(&key.scenario, key.repeat),
        trust: facts.trust.as_ref(),
    });
    Ok(ScenarioResult {
        stage: key.stage.as_deref().map(str::to_owned),
        candidate: key.candidate.as_deref().map(str::to_owned),
        scenario: key.scenario.to_string(),
        repeat: key.repeat,
        load: scenario.and_then(|s| s.load.as_ref()).map(load_line),
        window: window_line(columns),
        requests: request_counts(columns),
        outcomes: Outcome::ALL.iter().zip(columns.outcomes).map(|(o, n)| (o.as_str().to_owned(), n)).collect(),
        tokens: token_line(columns),
        figures,
        slo: slo_results(columns),
        notes: scenario.map(|s| s.notes.iter().map(Into::into).collect()).unwrap_or_default(),
        verdict,
        identities,
    })
}

fn figures(columns: &Columns) -> Figures {
    FIGURES
        .iter()
        .map(|def| {
            let figure = match (def.compute)(columns) {
                Measured::Value { n, value } => Figure { unit: def.unit, n, value, distribution: None },
                Measured::Spread { n, distribution } => Figure { unit: def.unit, n, value: None, distribution },
            };
            (def.id.to_owned(), figure)
        })
        .collect()
}

fn window_line(columns: &Columns) -> Option<WindowLine> {
    let measured = !columns.tally.ids.is_empty();
    let Window { start, end } = columns.window;
    let duration_s = end.saturating_sub(start).as_secs_f64();
    measured.then_some(WindowLine { start_ns: start.0, end_ns: end.0, duration_s })
}

fn load_line(load: &LoadSpec) -> LoadLine {
    let (concurrency, rate) = match load.kind {
        LoadKind::Burst | LoadKind::Ramp { .. } => (None, None),
        LoadKind::Closed { concurrency, .. } => (Some(concurrency), None),
        LoadKind::Constant { rate } | LoadKind::Poisson { rate } | LoadKind::Gamma { rate, .. } => (None, Some(rate)),
    };
    LoadLine {
        kind: load.kind.word().to_owned(),
        requests: load.requests,
        duration_s: load.duration.map(|d| d.as_secs_f64()),
        concurrency,
        rate,
        max_concurrency: load.max_concurrency,
    }
}

fn request_counts(columns: &Columns) -> RequestCounts {
    let [warmup, cooldown, probe] = columns.apart;
    RequestCounts {
        requests: columns.requests,
        attempts: columns.outcomes.iter().sum(),
        complete: columns.complete(),
        failed: columns.failed(),
        stale_connections: columns.with(Outcome::StaleConnection),
        not_streamed: columns.evidence.not_streamed,
        warmup,
        cooldown,
        probe,
    }
}

fn token_line(columns: &Columns) -> TokenLine {
    let by_source = &columns.tokens.output_by_source;
    TokenLine {
        output_by_source: by_source.iter().map(|(source, known)| ((*source).to_owned(), known.total)).collect(),
        answers_by_source: by_source.iter().map(|(source, known)| ((*source).to_owned(), known.rows)).collect(),
        output_of_failed: columns.tokens.output_of_failed.total,
        prompt_overhead: columns.evidence.prompt_overhead(),
        content_events: columns.evidence.content_events,
        merged_events: columns.evidence.merged_events,
        answers_without_event_tokens: columns.evidence.unweighted,
    }
}

fn slo_results(columns: &Columns) -> Vec<SloResult> {
    let of = columns.counted();
    let result = |line: &crate::columns::SloLine| SloResult {
        figure: line.figure.to_owned(),
        limit_ms: line.limit.0 as f64 / 1e6,
        met: line.met,
        of,
        attainment: (of > 0).then(|| line.met as f64 / of as f64),
    };
    columns.slo.lines().iter().map(result).collect()
}
