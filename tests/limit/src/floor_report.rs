//! What `limit-floor` and `limit-timer` print: one line of JSON each.

use serde::{Deserialize, Serialize};

/// Result of `limit-floor`. Costs are those of the load alone: connections are opened before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FloorReport {
    /// `epoll` or `uringmsg`.
    pub engine: String,
    /// What was done with the bytes.
    pub level: u32,
    /// Connections.
    pub concurrency: usize,
    /// Answers that came.
    pub requests: u64,
    /// Events with content that came.
    pub chunks: u64,
    /// Duration of the load.
    pub wall_s: f64,
    /// CPU time of the load.
    pub cpu_s: f64,
    /// CPU time for each chunk.
    pub cpu_ns_per_chunk: f64,
    /// Of it in the program.
    pub user_ns_per_chunk: f64,
    /// Of it in the kernel.
    pub sys_ns_per_chunk: f64,
    /// System calls for each chunk.
    pub syscalls_per_chunk: f64,
    /// Reads for each chunk.
    pub reads_per_chunk: f64,
    /// `kernel` or `read`: what an event's time is.
    pub stamp: String,
    /// Event's time less the server's, with `--lag 1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamp_error_p50_us: Option<f64>,
    /// The same at p99.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamp_error_p99_us: Option<f64>,
    /// The same at p99.9.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamp_error_p999_us: Option<f64>,
    /// The same for the first event of each answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error_p50_us: Option<f64>,
    /// The same at p99.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error_p99_us: Option<f64>,
    /// From the server's time to the program's read, at p99: what a stamp of the program's own would be wrong by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_lag_p99_us: Option<f64>,
}

/// Result of `limit-timer`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimerReport {
    /// How it waited.
    pub how: String,
    /// Sends a second.
    pub rate: f64,
    /// Streams that the same thread served meanwhile.
    pub bg: u64,
    /// Sends that were due.
    pub sends: u64,
    /// Lateness.
    pub p50_us: f64,
    /// Lateness at p99.
    pub p99_us: f64,
    /// Lateness at p99.9.
    pub p999_us: f64,
    /// Greatest lateness.
    pub max_us: f64,
    /// CPU time for each send, the streams' included.
    pub cpu_us_per_send: f64,
}
