//! The load of a scenario: when requests are sent, and what limits them.

use crate::clock::Nanos;
use serde::{Deserialize, Serialize};

/// When requests are sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadKind {
    /// All at once.
    Burst,
    /// A fixed number in flight; the next starts when one ends.
    Closed {
        /// How many.
        concurrency: u32,
        /// Pause of a slot between an answer's end and its next request.
        think_time: Nanos,
    },
    /// Evenly spaced.
    Constant {
        /// Requests a second.
        rate: f64,
    },
    /// Exponential gaps.
    Poisson {
        /// Mean requests a second.
        rate: f64,
    },
    /// Gamma gaps.
    Gamma {
        /// Mean requests a second.
        rate: f64,
        /// Shape of the gaps' distribution: 1 is Poisson, less is burstier.
        burstiness: f64,
    },
    /// A rate that changes over the run.
    Ramp {
        /// Requests a second at the start.
        start_rate: f64,
        /// Requests a second at the end.
        end_rate: f64,
        /// How the rate gets from one to the other.
        shape: RampShape,
        /// As for gamma.
        burstiness: f64,
    },
}

impl LoadKind {
    /// The word that stands in a workload.
    pub const fn word(&self) -> &'static str {
        match self {
            LoadKind::Burst => "burst",
            LoadKind::Closed { .. } => "closed",
            LoadKind::Constant { .. } => "constant",
            LoadKind::Poisson { .. } => "poisson",
            LoadKind::Gamma { .. } => "gamma",
            LoadKind::Ramp { .. } => "ramp",
        }
    }
}

/// How a ramp gets from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RampShape {
    /// By equal steps.
    Linear,
    /// By equal factors.
    Exponential,
}

/// Which rule draws arrival times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArrivalProcess {
    /// Ours: PCG64, times never scaled.
    #[default]
    #[serde(rename = "bench")]
    Bench,
    /// That of `vllm bench serve` 0.11: numpy's legacy generator, the sum scaled to n / rate.
    #[serde(rename = "vllm-0.11")]
    Vllm011,
}

/// The load of one scenario. At least one of `requests` and `duration` is set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// When requests are sent.
    pub kind: LoadKind,
    /// Stop after this many.
    pub requests: Option<u64>,
    /// Send nothing after this long.
    pub duration: Option<Nanos>,
    /// Most requests in flight; further ones wait, and the wait shows.
    pub max_concurrency: Option<u32>,
    /// Which rule draws arrival times.
    pub process: ArrivalProcess,
}

/// What ends a request, or a run, early.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Whole request, from `sent`.
    pub request_timeout: Nanos,
    /// Until the connection is there.
    pub connect_timeout: Nanos,
    /// Until the first generated content; `None`: only the whole request's.
    pub first_token_timeout: Option<Nanos>,
    /// Between two events; `None`: only the whole request's.
    pub inter_token_timeout: Option<Nanos>,
    /// After the last send (or the first interrupt), how long answers may still take.
    pub drain_timeout: Option<Nanos>,
    /// Greatest event, bytes after decompression.
    pub max_event_bytes: u64,
    /// Greatest answer, bytes after decompression.
    pub max_response_bytes: u64,
    /// Greatest share of failed requests in a valid run, 0 to 1.
    pub max_failure_rate: f64,
}

/// What an answer must keep to count as good. A limit that is `None` asks nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slo {
    /// Time to first token.
    pub ttft: Option<Nanos>,
    /// Time per output token after the first event.
    pub tpot: Option<Nanos>,
    /// Every gap between content events of the answer.
    pub itl: Option<Nanos>,
    /// From `sent` to the last token.
    pub e2e: Option<Nanos>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            request_timeout: Nanos::from_secs(6 * 3600),
            connect_timeout: Nanos::from_secs(10),
            first_token_timeout: None,
            inter_token_timeout: None,
            drain_timeout: None,
            max_event_bytes: 64 << 20,
            max_response_bytes: 256 << 20,
            max_failure_rate: 0.0,
        }
    }
}
