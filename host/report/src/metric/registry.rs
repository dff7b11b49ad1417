//! The table of all figures.

use super::{
    concurrency, e2e, failure_rate, goodput, itl, peak, queue_wait, read_lag, response_time, send_lateness, throughput,
    token_totals, tokens_per_event, tpot, ttfo, ttft,
};
use crate::columns::Columns;
use crate::stats::{Distribution, Population, Sorted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Unit {
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Requests a second.
    #[serde(rename = "req/s")]
    RequestsPerSecond,
    /// Tokens a second.
    #[serde(rename = "tok/s")]
    TokensPerSecond,
    /// Tokens.
    #[serde(rename = "tok")]
    Tokens,
    /// Tokens an event.
    #[serde(rename = "tok/event")]
    TokensPerEvent,
    /// Requests.
    #[serde(rename = "req")]
    Requests,
    /// A share of one.
    #[serde(rename = "1")]
    Share,
}

impl Unit {
    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Unit::Milliseconds => "ms",
            Unit::RequestsPerSecond => "req/s",
            Unit::TokensPerSecond => "tok/s",
            Unit::Tokens => "tok",
            Unit::TokensPerEvent => "tok/event",
            Unit::Requests => "req",
            Unit::Share => "1",
        }
    }
}

/// Which way a figure gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// It only describes the load.
    Neither,
}

/// What was measured of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// One number; `None` where it could not be measured.
    Value {
        /// Rows that it rests on.
        n: u64,
        /// The number.
        value: Option<f64>,
    },
    /// Many numbers; `None` where there were none.
    Spread {
        /// How many numbers.
        n: u64,
        /// Their statistics.
        distribution: Option<Distribution>,
    },
}

impl Measured {
    /// Of times in ns, shown in ms.
    pub(crate) fn of_nanos(columns: &Columns, values: &[i64]) -> Measured {
        Measured::of(columns, &Sorted::from_integers(values), 1e6)
    }

    /// Of a population whose values are `per_unit` to the figure's unit.
    pub(crate) fn of(columns: &Columns, population: &dyn Population, per_unit: f64) -> Measured {
        let distribution = Distribution::of(population, per_unit, &columns.percentiles);
        Measured::Spread { n: population.len(), distribution }
    }

    /// A rate: `count` over the window, where both are known.
    pub(crate) fn rate(columns: &Columns, n: u64, count: Option<f64>) -> Measured {
        Measured::Value { n, value: count.zip(columns.window.seconds()).map(|(count, seconds)| count / seconds) }
    }
}

/// A figure.
#[derive(Clone, Copy, Debug)]
pub struct FigureDef {
    /// Stable, as it stands in `summary.json`.
    pub id: &'static str,
    /// For people.
    pub title: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Which way it gets better.
    pub better: Better,
    /// Columns of the trace that it is made of.
    pub needs: &'static str,
    /// What it means and how it is computed.
    pub doc: &'static str,
    /// Computes it.
    pub compute: fn(&Columns) -> Measured,
}

/// Every figure, in the order in which they are shown.
pub static FIGURES: [&FigureDef; 25] = [
    &ttft::TTFT,
    &ttfo::TTFO,
    &tpot::TPOT,
    &itl::ITL,
    &e2e::E2E,
    &response_time::RESPONSE_TIME,
    &throughput::REQUEST_THROUGHPUT,
    &throughput::OUTPUT_THROUGHPUT,
    &throughput::TOTAL_THROUGHPUT,
    &peak::PEAK_OUTPUT_THROUGHPUT,
    &goodput::GOODPUT,
    &failure_rate::FAILURE_RATE,
    &concurrency::CONCURRENCY_MEAN,
    &concurrency::CONCURRENCY_PEAK,
    &token_totals::PROMPT_TOKENS_ASKED,
    &token_totals::PROMPT_TOKENS_SERVER,
    &token_totals::PROMPT_TOKENS,
    &token_totals::CACHED_TOKENS,
    &token_totals::OUTPUT_TOKENS_ASKED,
    &token_totals::OUTPUT_TOKENS,
    &token_totals::REASONING_TOKENS,
    &tokens_per_event::TOKENS_PER_EVENT,
    &send_lateness::SEND_LATENESS,
    &queue_wait::QUEUE_WAIT,
    &read_lag::READ_LAG,
];

/// The figure with this id.
pub fn figure(id: &str) -> Option<&'static FigureDef> {
    FIGURES.into_iter().find(|f| f.id == id)
}

/// The reference of all figures, CommonMark.
pub fn reference() -> String {
    let mut out = String::from(
        "# Figures\n\n\
         Made from `host/report/src/metric`; `BENCH_BLESS=1 cargo test -p bench-report` writes it anew.\n\n\
         Only rows of phase `measure` enter a figure, and only complete ones enter latencies, token counts and \
         throughput. Times are nanoseconds of one monotonic clock; shown in milliseconds. Percentiles are exact, by \
         numpy's linear rule; `std` is that of the population. A figure that could not be measured is null.\n\
         The window runs from the schedule's zero until the last measured attempt was over.\n",
    );
    for f in FIGURES {
        let better = match f.better {
            Better::Lower => "lower is better",
            Better::Higher => "higher is better",
            Better::Neither => "describes the load",
        };
        // Writing to a string can't fail.
        let _ = write!(
            out,
            "\n## {} (`{}`)\n\nUnit `{}`; {better}. Needs {}.\n\n{}\n",
            f.title,
            f.id,
            f.unit.as_str(),
            f.needs,
            f.doc
        );
    }
    out
}
