//! What a summary has to know beside the rows: what was asked, and what the client saw of itself.

use bench_core::clock::Nanos;
use bench_core::load::{Limits, LoadSpec, Slo};
use bench_core::sample::SampleNote;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known of a run beside its rows. All of it may be missing: a trace alone has figures too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Who, what, when.
    pub run: RunMeta,
    /// The scenarios in the order of the plan.
    pub scenarios: Vec<ScenarioFacts>,
    /// What the client saw of itself in each scenario and repeat.
    pub windows: Vec<WindowFacts>,
    /// How often each scenario was to be run; `None` where not known.
    pub repeats: Option<u32>,
    /// Percentiles asked for, rising; where there are none, those that a summary always has.
    pub percentiles: Vec<f64>,
    /// The user stopped it.
    pub interrupted: bool,
    /// Why the run did not come to its end by itself.
    pub broken_off: Option<String>,
    /// How far the client is known to be right on this machine; `None` where it was never tested.
    pub trust: Option<Trust>,
}

/// Who, what, when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunMeta {
    /// Name of the workload.
    pub name: Option<String>,
    /// SHA-256 of the plan, hex.
    pub plan_hash: Option<String>,
    /// Version of bench-host.
    pub bench_host: Option<String>,
    /// Start of the run, RFC 3339.
    pub started: Option<String>,
    /// Engine adapter.
    pub engine: Option<String>,
    /// Version of the engine as it was learnt.
    pub engine_version: Option<String>,
    /// Command line of the engine as it was run.
    pub engine_command: Option<String>,
    /// Model that was served.
    pub model: Option<String>,
}

/// What was asked of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScenarioFacts {
    /// Its name.
    pub name: String,
    /// Its load.
    pub load: Option<LoadSpec>,
    /// Its limits; the defaults hold where none are known.
    pub limits: Limits,
    /// What an answer must keep.
    pub slo: Slo,
    /// What the user should know of its samples.
    pub notes: Vec<SampleNote>,
}

/// What the client saw of itself while one scenario was measured once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowFacts {
    /// Scenario.
    pub scenario: String,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Zero of the schedule.
    pub start: Option<Nanos>,
    /// Greatest CPU share of a load thread, 1 is a whole core.
    pub busiest_thread: Option<f64>,
    /// Steps of the wall clock, from which kernel stamps are converted.
    pub clock_steps: u64,
    /// What moved the bytes.
    pub transport: Option<String>,
    /// From the kernel's stamp to the client's read, 99th percentile over all reads.
    pub read_lag_p99: Option<Nanos>,
    /// Events a second that the client took, while it ran.
    pub events_per_s: Option<f64>,
    /// Requests a second that it sent.
    pub sends_per_s: Option<f64>,
}

/// How far the client is known to be right on this machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trust {
    /// What moved the bytes in that test.
    pub transport: String,
    /// Most events a second at which its times were right.
    pub events_per_s: f64,
    /// Most streams at once.
    pub streams: u32,
    /// Most requests a second that were sent in time.
    pub sends_per_s: f64,
}

impl Facts {
    /// What was asked of a scenario.
    pub fn scenario(&self, name: &str) -> Option<&ScenarioFacts> {
        self.scenarios.iter().find(|s| s.name == name)
    }

    /// What the client saw of itself.
    pub fn window(&self, scenario: &str, repeat: u32) -> Option<&WindowFacts> {
        self.windows.iter().find(|w| w.scenario == scenario && w.repeat == repeat)
    }
}
