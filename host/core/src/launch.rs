//! What may be started, and what to ask a server that is up.

use serde::{Deserialize, Serialize};

/// A device set aside for one replica.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Number as the vendor's tools count on this machine.
    pub index: u32,
    /// Vendor's identifier.
    pub uuid: Option<String>,
    /// Who made it.
    pub vendor: Vendor,
    /// Product name.
    pub name: String,
    /// Bytes of its memory; `None` where not known.
    pub memory_bytes: Option<u64>,
}

/// Who made a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "names of vendors")]
pub enum Vendor {
    Nvidia,
    Amd,
    Intel,
    Apple,
    Other,
}

/// The model to serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// As written in the workload.
    pub name: String,
    /// Where the engine finds it: a path, or the name again.
    pub location: String,
    /// Revision of the model.
    pub revision: Option<String>,
    /// Name under which the engine must serve it.
    pub served_as: String,
}

/// One replica to launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchRequest {
    /// What to serve.
    pub model: Model,
    /// Validated options of the engine.
    pub settings: crate::adapter::Settings,
    /// Number of this replica, from 0.
    pub replica: u32,
    /// How many there are.
    pub replicas: u32,
    /// Devices set aside for it.
    pub devices: Vec<Device>,
    /// Ports set aside for it; the first is for the API.
    pub ports: Vec<u16>,
    /// Address to listen on.
    pub host: String,
    /// Private folder of this replica.
    pub folder: String,
    /// Version of the program, where known.
    pub engine_version: Option<String>,
}

/// Everything that is to be started for one replica.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchPlan {
    /// Started in this order, each when the one before is ready; stopped in the reverse order.
    pub processes: Vec<ProcessPlan>,
    /// Index of the process that takes the load.
    pub serving: u32,
    /// Facts for the results that follow from the settings.
    pub facts: Vec<(String, String)>,
}

impl LaunchPlan {
    /// The command of the process at `place` as a person would write it, without its program and without address and
    /// port: the plan's arguments, and for the serving process the user's own.
    pub fn args<'a>(&'a self, place: usize, extra_args: &'a [String]) -> impl Iterator<Item = &'a String> {
        let planned = self.processes.get(place).map(|p| p.args.as_slice()).unwrap_or_default();
        let extra = if place == self.serving as usize { extra_args } else { &[] };
        planned.iter().chain(extra)
    }
}

/// One process to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessPlan {
    /// Unique in the plan.
    pub name: String,
    /// A program of the manifest, never a path.
    pub program: String,
    /// What the settings ask for: the command as a person would write it.
    pub args: Vec<String>,
    /// Appended when the process is started: address, port.
    pub bind_args: Vec<String>,
    /// Added to the small environment that the host gives.
    pub env: Vec<(String, EnvValue)>,
    /// Written before the start: path relative to the replica's folder, contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// Devices of the request, by position, that it may see.
    pub devices: Vec<u32>,
    /// Port on which it listens.
    pub port: u16,
    /// When it can take requests.
    pub ready: ReadyProbe,
    /// How to end it.
    pub stop: StopRule,
}

/// The value of an environment variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnvValue {
    /// As it is.
    Text(String),
    /// A secret of the user's, by name.
    Secret(String),
}

/// When a process is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadyProbe {
    /// What to look at.
    pub check: ReadyCheck,
    /// Time between two looks, ms.
    pub interval_ms: u32,
    /// Give up after this long, ms.
    pub timeout_ms: u32,
    /// Texts in the log that mean it will never be ready.
    pub fatal_log: Vec<String>,
}

/// What tells that a process is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadyCheck {
    /// GET of this path answers 2xx.
    Http(String),
    /// The port accepts a connection.
    Tcp,
    /// A line of its output contains this text.
    Log(String),
    /// It is a step: ready when it ended with status 0.
    Exit,
}

/// How to end a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopRule {
    /// Sent first.
    pub signal: StopSignal,
    /// Then the whole process group is killed, ms.
    pub grace_ms: u32,
}

/// A signal that ends a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopSignal {
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGKILL.
    Kill,
}

/// How to learn a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VersionProbe {
    /// Run the program with these arguments; the first dotted number of its output is the version.
    Command(Vec<String>),
    /// GET a JSON document of the running server.
    Http {
        /// Path of the document.
        path: String,
        /// JSON pointer of the version.
        pointer: String,
    },
    /// There is no way.
    None,
}

/// What to ask a server that is up, whoever launched it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerInfo {
    /// GET of this path answers 2xx once the server can take requests.
    pub ready: String,
    /// How to learn what it serves.
    pub models: Option<ModelList>,
    /// How to learn its version.
    pub version: VersionProbe,
    /// Where its own metrics are.
    pub metrics: Vec<MetricsEndpoint>,
}

/// A JSON document that lists the served models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelList {
    /// Path of the document.
    pub path: String,
    /// JSON pointer of the array.
    pub list: String,
    /// JSON pointer of a model's name inside an element.
    pub id: String,
    /// JSON pointer of the longest context in tokens inside an element.
    pub context: Option<String>,
}

/// The engine's own metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricsEndpoint {
    /// Path of the document.
    pub path: String,
    /// Its form.
    pub format: MetricsFormat,
    /// What is in it that we know.
    pub series: Vec<MetricSeries>,
}

/// Form of a metrics document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricsFormat {
    /// Prometheus text.
    Prometheus,
    /// JSON.
    Json,
}

/// One neutral series out of the engine's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricSeries {
    /// What it means.
    pub meaning: MetricMeaning,
    /// Prometheus name, or JSON pointer.
    pub name: String,
    /// Multiply by this to get the neutral unit.
    pub scale: f64,
}

/// What a series means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each name is its meaning")]
pub enum MetricMeaning {
    RequestsRunning,
    RequestsWaiting,
    RequestsPreempted,
    /// From 0 to 1.
    KvCacheUsed,
    PromptTokensCached,
    PromptTokens,
    GeneratedTokens,
    DraftTokens,
    DraftTokensAccepted,
}
