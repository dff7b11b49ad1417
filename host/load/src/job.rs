//! What a load is asked to do, and what it says of itself.

use crate::client::tls::Trust;
use crate::spread::SpreadSummary;
use crate::transport::Transport;
use bench_core::clock::Nanos;
use bench_core::decode::{ResponseDecoder, StreamFormat};
use bench_core::load::{Limits, LoadSpec};
use bench_core::record::Phase;
use bench_core::request::PreparedRequest;
use bench_core::tokens::TokenCounter;
use std::fmt;
use std::sync::Arc;

/// A server that takes requests.
#[derive(Clone)]
pub struct Target {
    /// Root of the server without `/v1` (a trailing `/v1` is cut off): `http://127.0.0.1:8000`.
    pub url: String,
    /// Headers that every request to it carries, as authorization. Secret: never in a row, an error or
    /// debug output.
    pub headers: Vec<(String, String)>,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Target").field("url", &self.url).field("headers", &names).finish()
    }
}

/// What the rows of a load share.
#[derive(Clone, Debug)]
pub struct RowContext {
    /// Scenario of the workload.
    pub scenario: Arc<str>,
    /// Stage of the study.
    pub stage: Option<Arc<str>>,
    /// Candidate of the stage.
    pub candidate: Option<Arc<str>>,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// What the requests are for.
    pub phase: Phase,
}

/// One load to run.
pub struct LoadJob {
    /// When requests are sent.
    pub spec: LoadSpec,
    /// What ends them early.
    pub limits: Limits,
    /// Servers; requests go round them by their number.
    pub targets: Vec<Target>,
    /// Requests in the order in which they are sent.
    pub requests: Arc<[PreparedRequest]>,
    /// Start over when all are sent: for a load that is bound by time.
    pub cycle: bool,
    /// How answers are framed and read.
    pub format: StreamFormat,
    /// Reads answers where `format` has no plan.
    pub decoder: Option<Box<dyn ResponseDecoder>>,
    /// Counts tokens where the server doesn't.
    pub counter: Option<Arc<dyn TokenCounter>>,
    /// Seed of the arrival times.
    pub arrival_seed: u64,
    /// Load threads; `None`: one.
    pub threads: Option<usize>,
    /// Cores that the threads are pinned to, in turn; empty: to none.
    pub cores: Vec<usize>,
    /// How bytes come and go; `None`: the best way that there is.
    pub transport: Option<Transport>,
    /// Each request looks the server up and opens a connection of its own, and the rows say how long that took.
    pub cold: bool,
    /// What the rows share.
    pub row: RowContext,
    /// Rows carry prompts' and answers' texts.
    pub keep_text: bool,
    /// Values that are masked wherever a server repeats them: keys, secret headers.
    pub secrets: Vec<String>,
    /// Certificates that are trusted, for https.
    pub trust: Trust,
}

/// CPU of one load thread over the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadCpu {
    /// CPU time it used.
    pub cpu: Nanos,
    /// Time that passed.
    pub wall: Nanos,
}

/// What a load says of itself.
#[derive(Clone, Debug)]
pub struct LoadStats {
    /// The load's start: offsets of arrivals count from here.
    pub t0: Nanos,
    /// End of the last attempt, or of the wait for it.
    pub ended: Nanos,
    /// Load threads.
    pub threads: Vec<ThreadCpu>,
    /// CPU of the thread that decodes.
    pub decode_cpu: Nanos,
    /// From scheduled to sent, over the attempts that were sent first (a closed loop's are scheduled when
    /// a slot is free).
    pub send_lateness: SpreadSummary,
    /// From the kernel's stamp to our read, over all reads that had one.
    pub read_lag: SpreadSummary,
    /// Reads that brought bytes.
    pub reads: u64,
    /// Of them without a kernel stamp.
    pub reads_unstamped: u64,
    /// Stream events in rows.
    pub events: u64,
    /// Of them, those that shared a read with another event.
    pub merged_events: u64,
    /// Steps of the machine's real-time clock that were noticed.
    pub clock_steps: u32,
    /// Rows handed to the sink.
    pub rows: u64,
    /// How bytes came.
    pub transport: Transport,
    /// System calls of the load threads for waiting, reading and writing (not for opening and closing
    /// connections); `None` where they were not counted.
    pub syscalls: Option<u64>,
}

impl LoadStats {
    /// Share of events that shared a read, 0 to 1; `None` without events.
    pub fn merged_share(&self) -> Option<f64> {
        (self.events > 0).then(|| self.merged_events as f64 / self.events as f64)
    }
}

/// A load that can't run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Nothing to send, or nowhere.
    #[error("the load has no {0}; give at least one")]
    Nothing(&'static str),
    /// No decode plan and no decoder.
    #[error("the stream format has no plan and no adapter decodes; give one of the two")]
    NoDecoder,
    /// The load's numbers give no arrival.
    #[error("the load `{0}` gives no arrival; check its rate, requests and duration")]
    NoArrival(&'static str),
    /// A server's address that can't be used.
    #[error("server `{url}`: {why}")]
    Target {
        /// The address.
        url: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// An endpoint's path or headers can't be sent.
    #[error("endpoint `{path}`: {why}; mend the adapter")]
    Endpoint {
        /// Its path.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// The operating system refused a thread, a timer or a runtime.
    #[error("can't start a load thread: {0}; lower the number of threads, or raise the limits of this user")]
    Start(std::io::Error),
    /// Certificates that can't be read.
    #[error(transparent)]
    Trust(#[from] crate::client::tls::TrustError),
    /// A transport that can't be used.
    #[error("the transport `{0}` {1}")]
    Transport(&'static str, String),
    /// A load thread ended by a panic.
    #[error(
        "a load thread panicked, or the kernel refused to tell it of its sockets; please report this with the workload"
    )]
    Panicked,
}
