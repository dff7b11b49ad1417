//! All that will be done: ordered, every default explicit.

use bench_core::adapter::Settings;
use bench_core::clock::Nanos;
use bench_core::launch::{EnvValue, Model};
use bench_core::load::{Limits, LoadSpec, Slo};
use bench_core::sample::Sampling;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// All that a workload asks for, every default explicit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What the run is called.
    pub name: String,
    /// What is measured.
    pub engine: EnginePlan,
    /// A `tokenizer.json`.
    pub tokenizer: Option<PlanPath>,
    /// What is done, in this order.
    pub scenarios: Vec<ScenarioPlan>,
    /// How often all scenarios are done.
    pub repeats: u32,
    /// What is kept of every request.
    pub trace: TracePlan,
    /// The load client.
    pub client: ClientPlan,
    /// What the report shows.
    pub report: ReportPlan,
    /// Dotted keys that the user gave (`scenario.NAME.load.rate`); all else is a default. No part of the hash.
    pub asked: BTreeSet<String>,
}

/// A path of the workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanPath {
    /// As the user wrote it.
    pub written: String,
    /// Where that is: relative to the workload file.
    pub path: PathBuf,
}

/// An adapter that the workload names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterRef {
    /// As the user wrote it: an id, or a path relative to the workload file.
    pub written: String,
    /// What it calls itself.
    pub id: String,
    /// Version of the adapter.
    pub version: String,
}

/// The engine and its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnginePlan {
    /// Its adapter.
    pub adapter: AdapterRef,
    /// The model. `location` is the path of `model-path`, else the name.
    pub model: Model,
    /// `model-path` where the user gave one.
    pub model_path: Option<PlanPath>,
    /// The adapter's settings, defaults filled in.
    pub settings: Settings,
    /// Launched or attached to.
    pub target: EngineTarget,
}

/// How there comes to be a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineTarget {
    /// We start it.
    Launch(LaunchSettings),
    /// It runs already.
    Attach(AttachPlan),
}

/// How the engine is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchSettings {
    /// Copies of the engine.
    pub replicas: u32,
    /// Devices of all replicas together; `None`: those that the engine takes.
    pub gpus: Option<Gpus>,
    /// Address to listen on.
    pub host: String,
    /// Port of the first replica, the next takes the next; `None`: free ones.
    pub port: Option<u16>,
    /// How long it may take until it can serve; `None`: as the adapter says.
    pub ready_timeout: Option<Nanos>,
    /// Appended to the command.
    pub extra_args: Vec<String>,
    /// Environment variables. A secret is the name of one of ours that is passed on.
    pub env: BTreeMap<String, EnvValue>,
    /// Executables of the adapter's programs. A path without `/` is looked up in `PATH`.
    pub programs: BTreeMap<String, PlanPath>,
    /// Commands that an adapter which is not bundled may start.
    pub allow: Vec<Vec<String>>,
}

/// Devices of all replicas together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gpus {
    /// The first so many.
    Count(u32),
    /// These.
    Indices(Vec<u32>),
}

/// Servers that already run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachPlan {
    /// Roots of the servers, without `/v1` and without a trailing slash.
    pub urls: Vec<String>,
    /// Environment variable that holds the API key.
    pub api_key_env: Option<String>,
    /// Headers of every request. A secret is the name of an environment variable.
    pub headers: BTreeMap<String, EnvValue>,
}

/// One dataset under one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioPlan {
    /// Unique in the plan.
    pub name: String,
    /// Where the prompts come from.
    pub dataset: DatasetPlan,
    /// When requests are sent.
    pub load: LoadSpec,
    /// Where all that is random begins.
    pub seeds: Seeds,
    /// How the model draws its tokens.
    pub sampling: SamplingPlan,
    /// Limits that a good request keeps.
    pub slo: Slo,
    /// What ends a request, or makes the run invalid.
    pub limits: Limits,
    /// Requests before the measurement.
    pub warmup_requests: u32,
}

/// A dataset and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetPlan {
    /// Its adapter.
    pub adapter: AdapterRef,
    /// The adapter's settings, defaults filled in; without sources.
    pub settings: Settings,
    /// Files that the adapter is granted, by the setting's key.
    pub sources: BTreeMap<String, PlanPath>,
}

/// Seeds of one scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeds {
    /// For the samples: what other tools call `--seed`.
    pub samples: u64,
    /// Shuffles the samples; `None`: they go as the dataset yields them.
    pub order: Option<u64>,
    /// For arrival times.
    pub arrival: u64,
}

/// What is asked of every answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamplingPlan {
    /// How the model draws its tokens.
    pub sampling: Sampling,
    /// Most tokens; `None`: the sample's length.
    pub max_tokens: Option<u32>,
    /// Least tokens.
    pub min_tokens: Option<u32>,
    /// Go on after an end-of-text token.
    pub ignore_eos: bool,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// Ask for a stream.
    pub stream: bool,
    /// Further fields of the request's body.
    pub extra: BTreeMap<String, serde_json::Value>,
}

/// What is kept of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracePlan {
    /// Texts of prompts and answers.
    pub text: bool,
}

/// The load client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientPlan {
    /// Threads; `None`: the client's choice.
    pub threads: Option<u32>,
    /// Cores that the threads are pinned to in turn; empty: none.
    #[serde(default)]
    pub cores: Vec<u32>,
    /// How bytes come and go; `None`: the best way that there is.
    #[serde(default)]
    pub transport: Option<String>,
    /// Each request opens a connection of its own.
    #[serde(default)]
    pub cold_connections: bool,
}

/// What the report shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportPlan {
    /// Percentiles of every latency, rising.
    pub percentiles: Vec<f64>,
}

impl PlanPath {
    /// What is the same on every machine: a relative path as written, of an absolute one the file name.
    pub fn portable(&self) -> &str {
        portable(&self.written)
    }
}

/// See [`PlanPath::portable`].
pub(crate) fn portable(written: &str) -> &str {
    if written.starts_with(['/', '~']) { written.rsplit('/').next().unwrap_or(written) } else { written }
}
