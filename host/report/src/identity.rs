//! What must hold between figures, whatever was measured.

use crate::columns::Columns;
use crate::summary::{Figure, Figures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Two ways to the same number, or to numbers of which one is never the greater.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityCheck {
    /// What must hold.
    pub identity: String,
    /// Left side.
    pub left: f64,
    /// Right side.
    pub right: f64,
    /// It does.
    pub holds: bool,
}

impl fmt::Display for IdentityCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is {} against {}", self.identity, self.left, self.right)
    }
}

/// Relative room for the rounding of sums.
const ROUNDING: f64 = 1e-9;

fn room(a: f64, b: f64) -> f64 {
    ROUNDING * a.abs().max(b.abs()).max(1e-3)
}

fn equal(identity: &str, left: f64, right: f64) -> IdentityCheck {
    let holds = (left - right).abs() <= room(left, right);
    IdentityCheck { identity: identity.to_owned(), left, right, holds }
}

fn at_least(identity: &str, left: f64, right: f64) -> IdentityCheck {
    let holds = left + room(left, right) >= right;
    IdentityCheck { identity: identity.to_owned(), left, right, holds }
}

/// Checks the figures of one group against each other and against sums of their own over the rows.
pub(crate) fn checks(columns: &Columns, figures: &Figures) -> Vec<IdentityCheck> {
    let mut checks = counts(columns, figures);
    checks.extend(rates(columns, figures));
    checks.extend(times(columns, figures));
    checks
}

fn value(figures: &Figures, id: &str) -> Option<f64> {
    figures.get(id).and_then(|f| f.value)
}

fn n(figures: &Figures, id: &str) -> f64 {
    figures.get(id).map_or(0.0, |f| f.n as f64)
}

fn counts(columns: &Columns, figures: &Figures) -> Vec<IdentityCheck> {
    let complete = columns.complete() as f64;
    let mut ids = columns.tally.ids.clone();
    let attempts = ids.len() as f64;
    ids.sort_unstable();
    ids.dedup();
    let outcomes = columns.outcomes.iter().sum::<u64>() as f64;
    let mut checks = vec![
        equal("attempts = sum of outcomes", attempts, outcomes),
        equal("attempts = different (request, attempt)", attempts, ids.len() as f64),
        at_least("complete >= answers with a TTFT", complete, n(figures, "ttft")),
        at_least("answers with a TTFT >= answers with a TPOT", n(figures, "ttft"), n(figures, "tpot")),
        equal("answers with an E2E = answers with a response time", n(figures, "e2e"), n(figures, "response_time")),
        equal("answers whose tokens are not their events = 0", columns.tally.stray_event_counts as f64, 0.0),
    ];
    let by_source: u64 = columns.tokens.output_by_source.values().map(|k| k.total).sum();
    if let Some(output) = value(figures, "output_tokens") {
        checks.push(equal("output tokens = sum over token sources", output, by_source as f64));
    }
    if let Some(rate) = value(figures, "failure_rate") {
        let counted = columns.counted() as f64;
        checks.push(equal("failure rate x attempts = attempts - complete", rate * counted, counted - complete));
    }
    checks
}

fn rates(columns: &Columns, figures: &Figures) -> Vec<IdentityCheck> {
    let mut checks = Vec::new();
    let Some(seconds) = columns.window.seconds() else { return checks };
    let mut product = |identity: &str, rate: &str, total: Option<f64>| {
        if let (Some(rate), Some(total)) = (value(figures, rate), total) {
            checks.push(equal(identity, rate * seconds, total));
        }
    };
    let output = value(figures, "output_tokens");
    let total = output.zip(value(figures, "prompt_tokens")).map(|(a, b)| a + b);
    product("duration x request throughput = complete", "request_throughput", Some(columns.complete() as f64));
    product("duration x output throughput = output tokens", "output_throughput", output);
    product("duration x total throughput = prompt + output tokens", "total_throughput", total);
    let mut order = |identity: &str, greater: &str, less: &str| {
        if let (Some(greater), Some(less)) = (value(figures, greater), value(figures, less)) {
            checks.push(at_least(identity, greater, less));
        }
    };
    order("peak >= mean output throughput", "peak_output_throughput", "output_throughput");
    order("most >= mean in flight", "concurrency_peak", "concurrency_mean");
    order("request throughput >= goodput", "request_throughput", "goodput");
    checks
}

fn times(columns: &Columns, figures: &Figures) -> Vec<IdentityCheck> {
    let tally = &columns.tally;
    let spread =
        |id: &str| figures.get(id).map(|f: &Figure| f.n as f64 * f.distribution.as_ref().map_or(0.0, |d| d.mean));
    let mut checks = vec![
        equal("E2E = TTFT + TPOT x (output tokens - tokens of the first event)", tally.e2e as f64, {
            tally.ttft as f64 + tally.decode
        }),
        equal("gaps = first to last content event", columns.gaps.sum() as f64, tally.spans_us as f64),
        equal("answers whose events leave their first or last token = 0", tally.stray_spans as f64, 0.0),
        equal("gaps and ITL have one count", columns.gaps.len() as f64, n(figures, "itl")),
    ];
    if let Some(sum_ms) = spread("itl") {
        checks.push(equal("n x mean ITL = sum of gaps", sum_ms, tally.spans_us as f64 / 1e3));
    }
    checks
}
