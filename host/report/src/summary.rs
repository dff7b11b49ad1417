//! `summary.json`: the figures of a run, as a pure function of its trace.

use crate::facts::RunMeta;
use crate::identity::IdentityCheck;
use crate::metric::Unit;
use crate::stats::Distribution;
use crate::verdict::Verdict;
use bench_core::sample::SampleNote;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the summary's form: the first number changes with a break, the second with an addition.
pub const FORMAT: &str = "1.0";

/// The figures of one run. Absent is null, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Version of this form.
    pub format: String,
    /// Who, what, when.
    pub run: RunMeta,
    /// Percentiles that are shown.
    pub percentiles: Vec<f64>,
    /// The worst verdict of all results, with all reasons.
    pub verdict: Verdict,
    /// Each scenario and repeat.
    pub results: Vec<ScenarioResult>,
}

/// Figures by id; `metric::FIGURES` has their order for people.
pub type Figures = BTreeMap<String, Figure>;

/// One scenario, run once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioResult {
    /// Stage of the study.
    pub stage: Option<String>,
    /// Candidate of the stage.
    pub candidate: Option<String>,
    /// Scenario.
    pub scenario: String,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// The load that was asked for.
    pub load: Option<LoadLine>,
    /// What throughput is counted over; null where nothing was measured.
    pub window: Option<WindowLine>,
    /// Counts of requests.
    pub requests: RequestCounts,
    /// Measured attempts by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Where the numbers of tokens come from.
    pub tokens: TokenLine,
    /// Every figure by its id.
    pub figures: Figures,
    /// Each limit of the scenario.
    pub slo: Vec<SloResult>,
    /// What the user should know of the samples.
    pub notes: Vec<NoteLine>,
    /// Whether the figures may be used.
    pub verdict: Verdict,
    /// What was checked between the figures; all of it holds.
    pub identities: Vec<IdentityCheck>,
}

/// A load in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadLine {
    /// Word of the workload: `closed`, `poisson`.
    pub kind: String,
    /// Requests asked for.
    pub requests: Option<u64>,
    /// Nothing is sent after this long.
    pub duration_s: Option<f64>,
    /// Requests in flight, of a closed loop.
    pub concurrency: Option<u32>,
    /// Requests a second, of an open loop with one rate.
    pub rate: Option<f64>,
    /// Most requests in flight.
    pub max_concurrency: Option<u32>,
}

/// A window, on the run's clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowLine {
    /// Begin, ns since the run's start.
    pub start_ns: u64,
    /// End, ns since the run's start.
    pub end_ns: u64,
    /// Length in seconds.
    pub duration_s: f64,
}

/// Counts of requests and attempts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestCounts {
    /// Measured requests.
    pub requests: u64,
    /// Measured attempts: more than requests where a stale connection made one again.
    pub attempts: u64,
    /// Complete.
    pub complete: u64,
    /// Neither complete nor on a stale connection.
    pub failed: u64,
    /// On a stale connection; made again, and outside the failure rate.
    pub stale_connections: u64,
    /// Complete and not streamed.
    pub not_streamed: u64,
    /// Warm-up attempts, in no figure.
    pub warmup: u64,
    /// Attempts after the measurement, in no figure.
    pub cooldown: u64,
    /// Probes, in no figure.
    pub probe: u64,
}

/// Where the numbers of tokens come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenLine {
    /// Output tokens of complete answers by the source of their number.
    pub output_by_source: BTreeMap<String, u64>,
    /// Complete answers by the source of their number.
    pub answers_by_source: BTreeMap<String, u64>,
    /// Output tokens of answers that are not complete; in no figure.
    pub output_of_failed: u64,
    /// Median of server's - dataset's prompt tokens: what a chat template adds.
    pub prompt_overhead: Option<f64>,
    /// Events with content of complete answers.
    pub content_events: u64,
    /// Of them, those that shared a read with another.
    pub merged_events: u64,
    /// Complete streams whose events don't say how many tokens they carry.
    pub answers_without_event_tokens: u64,
}

/// What was measured of a figure: one number, or the statistics of many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Unit of the value and of the statistics.
    pub unit: Unit,
    /// Rows, answers or gaps that it rests on.
    pub n: u64,
    /// The number, of a figure that is one.
    pub value: Option<f64>,
    /// The statistics, of a figure that has many values.
    pub distribution: Option<Distribution>,
}

/// One limit of `[scenario.slo]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SloResult {
    /// Figure that it limits.
    pub figure: String,
    /// The limit.
    pub limit_ms: f64,
    /// Complete answers that keep it.
    pub met: u64,
    /// Attempts that count: all but those on a stale connection.
    pub of: u64,
    /// Their share.
    pub attainment: Option<f64>,
}

/// Something the user should know of the samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoteLine {
    /// Stable word: `skipped-record`.
    pub code: String,
    /// What it means.
    pub message: String,
    /// How often.
    pub count: u64,
    /// Byte offset of the first one in its source.
    pub offset: Option<u64>,
}

impl From<&SampleNote> for NoteLine {
    fn from(note: &SampleNote) -> NoteLine {
        NoteLine { code: note.code.clone(), message: note.message.clone(), count: note.count, offset: note.offset }
    }
}

impl Summary {
    /// JSON Schema of `summary.json`.
    pub fn json_schema() -> serde_json::Value {
        schemars::schema_for!(Summary).to_value()
    }
}
