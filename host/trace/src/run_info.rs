//! What is known of a run besides its requests: `run.json`.

use crate::hardware::Hardware;
use crate::recover::Recovery;
use crate::version::FormatVersion;
use crate::wall_time::WallTime;
use bench_core::clock::Nanos;
use bench_core::load::{Limits, LoadSpec, Slo};
use bench_core::record::Phase;
use bench_core::sample::SampleNote;
use serde::{Deserialize, Serialize};

/// What is known of a run: `run.json`, and `bench.run` in the metadata of `requests.parquet`. Holds no secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Version of the trace's format.
    pub format: FormatVersion,
    /// Version of bench-host.
    pub bench_host: String,
    /// Name of the workload.
    pub name: String,
    /// The run's start: zero of every other time.
    pub started: WallTime,
    /// The machine's `CLOCK_MONOTONIC` at the run's start, ns: to set other programs' times beside these.
    #[serde(default)]
    pub monotonic_origin_ns: Option<u64>,
    /// The command line as given.
    pub command: Vec<String>,
    /// How far the run got.
    pub state: RunState,
    /// The user stopped it.
    pub interrupted: bool,
    /// Set where the trace was put together after the run was killed.
    pub recovery: Option<Recovery>,
    /// The trace has the columns of texts.
    pub text: bool,
    /// The plan, every default explicit.
    pub plan: serde_json::Value,
    /// SHA-256 of the plan, hexadecimal.
    pub plan_sha256: String,
    /// Seeds that everything was drawn with.
    pub seeds: Seeds,
    /// The tokenizer, where one was used.
    pub tokenizer: Option<TokenizerInfo>,
    /// Adapters that were loaded.
    pub adapters: Vec<AdapterRun>,
    /// The engine; `None` before it was there.
    pub engine: Option<EngineRun>,
    /// The machine that the client ran on.
    pub hardware: Hardware,
    /// The newest self-test of the client on this machine; `None` where there was none.
    #[serde(default)]
    pub selftest: Option<SelfTest>,
    /// Scenarios of the plan, in its order.
    pub scenarios: Vec<ScenarioInfo>,
    /// Stretches of load, in the order of time.
    pub windows: Vec<Window>,
}

/// How far a run got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Not over, or killed and not yet looked at.
    Running,
    /// Everything of the plan was done.
    Finished,
    /// The user stopped it.
    Interrupted,
    /// It could not go on; why not.
    Failed(String),
    /// bench-host was killed.
    Killed,
}

/// Seeds that everything was drawn with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeds {
    /// Of the datasets' samplers.
    pub samples: u64,
    /// Of the order of requests; `None`: as the datasets yield them.
    pub order: Option<u64>,
    /// Of the arrival process.
    pub arrival: u64,
}

/// A tokenizer that was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenizerInfo {
    /// Its file as the workload names it.
    pub name: String,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
}

/// An adapter that was loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterRun {
    /// Its identifier.
    pub id: String,
    /// `engine` or `dataset`.
    pub kind: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of the component, hexadecimal.
    pub sha256: String,
    /// `bundled`, or the path that it was loaded from.
    pub origin: String,
}

/// The engine that was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineRun {
    /// Adapter that it was driven by.
    pub adapter: String,
    /// Its version as the version probe told.
    pub version: Option<String>,
    /// Model asked for.
    pub model: String,
    /// It ran already.
    pub attached: bool,
    /// Roots of the servers, without keys.
    pub urls: Vec<String>,
    /// Processes that were started.
    pub processes: Vec<LaunchedProcess>,
    /// Names in the servers' model list.
    pub models: Vec<String>,
    /// Longest context in tokens that the servers told.
    pub context: Option<u64>,
    /// What the adapter says follows from the settings, in its order.
    pub facts: Vec<(String, String)>,
    /// From the start of the first process until the last one was ready, ns.
    pub startup: Option<Nanos>,
}

/// A process that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchedProcess {
    /// Its name in the launch plan.
    pub name: String,
    /// Replica that it belongs to, from 0.
    pub replica: u32,
    /// The command as run; the program as found on this machine.
    pub command: Vec<String>,
    /// How it ended; `None` while it runs.
    pub end: Option<String>,
}

/// A scenario of the plan: what the figures have to know of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioInfo {
    /// Its name.
    pub name: String,
    /// Adapter of its dataset.
    pub dataset: String,
    /// When requests are sent.
    pub load: LoadSpec,
    /// What ends requests early.
    pub limits: Limits,
    /// What an answer must keep to count as good.
    pub slo: Slo,
    /// Samples that the dataset yielded; `None` before it was asked.
    pub samples: Option<u64>,
    /// What the dataset says of them.
    pub notes: Vec<SampleNote>,
}

/// A stretch of load: one phase of one repeat of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The scenario.
    pub scenario: String,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// The phase.
    pub phase: Phase,
    /// When its clock started: zero of the arrival times.
    pub start: Nanos,
    /// When the last request was over; `None` where the run was killed before.
    pub end: Option<Nanos>,
    /// Requests that it was to make; `None` where time ends it.
    pub requests: Option<u64>,
    /// How the client did.
    pub client: Option<ClientStats>,
}

/// How the client did in a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientStats {
    /// What moved the bytes, as the client calls it.
    pub transport: String,
    /// Its load threads.
    pub threads: Vec<ThreadStats>,
    /// Steps of the wall clock that were noticed.
    pub clock_steps: u64,
    /// What it measured of itself; `None` in runs of before 0.2.
    #[serde(default)]
    pub health: Option<ClientHealth>,
}

/// What the client measured of itself in a window. Times are ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientHealth {
    /// CPU of the thread that decodes answers.
    pub decode_cpu: Nanos,
    /// From scheduled to sent.
    pub send_lateness: SpreadStats,
    /// From the kernel's stamp of the last byte to our read, over all reads with a stamp.
    pub read_lag: SpreadStats,
    /// Reads that brought bytes.
    pub reads: u64,
    /// Of them without a kernel stamp.
    pub reads_unstamped: u64,
    /// Stream events.
    pub events: u64,
    /// Of them, those that shared a read with another.
    pub merged_events: u64,
    /// System calls of the load threads for waiting, reading and writing (not for opening and closing connections);
    /// `None` where the transport doesn't count them.
    pub syscalls: Option<u64>,
}

/// Percentiles of times; at most 6 % too high, the greatest exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpreadStats {
    /// How many values.
    pub count: u64,
    /// Median.
    pub p50: Nanos,
    /// 99th percentile.
    pub p99: Nanos,
    /// Greatest.
    pub max: Nanos,
}

/// How one load thread did in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadStats {
    /// CPU time that it used.
    pub cpu: Nanos,
    /// Time that it ran.
    pub wall: Nanos,
}

/// How far the client can be trusted on a machine, as `bench-host selftest` found it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfTest {
    /// When it was measured, UTC.
    pub measured: String,
    /// What moved the bytes.
    pub transport: String,
    /// Load threads.
    pub threads: u32,
    /// Most streams at once at which its times were right.
    pub streams: u32,
    /// Events a second that these gave.
    pub events_per_s: f64,
    /// Most requests a second that were sent in time.
    pub sends_per_s: f64,
    /// What each trial showed.
    pub steps: Vec<SelfTestStep>,
}

/// One trial of a self-test. Times are 99th percentiles in µs; absent is what the trial doesn't measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfTestStep {
    /// Streams at once.
    pub streams: Option<u32>,
    /// Requests sent a second.
    pub sends_per_s: Option<f64>,
    /// Events a second.
    pub events_per_s: f64,
    /// From the engine's own stamp of an event to the client's, either way.
    pub event_error_p99_us: Option<f64>,
    /// The same of first events: the error of TTFT.
    pub ttft_error_p99_us: Option<f64>,
    /// From due to sent.
    pub send_lateness_p99_us: f64,
    /// From the kernel's stamp to the read.
    pub read_lag_p99_us: f64,
    /// Share of events that shared a read, 0 to 1.
    pub merged_share: f64,
    /// CPU share of the busiest load thread, 1 is a core.
    pub busiest_thread: f64,
    /// Why the client can't be trusted at this load.
    pub fault: Option<String>,
}
