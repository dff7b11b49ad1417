//! The load client: arrival, schedule, connections, streams. Sees neither WASM nor Parquet.

pub mod arrival;
mod client;
mod clockmap;
mod control;
mod decode;
mod direct;
mod figures;
pub mod http;
mod job;
mod run;
mod schedule;
mod spread;
pub mod stream;
mod sys;
mod timer;
mod transport;
mod worker;

pub use client::tls::{Trust, TrustError};
pub use control::{Control, Progress};
pub use decode::plan::PlanDecoder;
pub use direct::{AnswerHead, AnswerReader, HttpFault, Piece};
pub use job::{LoadError, LoadJob, LoadStats, RowContext, Target, ThreadCpu};
pub use run::run;
pub use spread::SpreadSummary;
pub use transport::Transport;
