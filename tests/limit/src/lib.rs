//! How cheap and how exact a streaming client can be on this machine, to hold bench-host against.
//!
//! Three tools: `limit-mock` is a server whose own cost and times are known, `limit-floor` a client that does the least
//! that a measuring client must do, `limit-timer` a sender with nothing to send. The library has what they share, and
//! what a bench needs to run them beside bench-host: pinned processes, the server's log, quantiles, a table.

mod args;
mod child;
mod delta;
mod epoll;
mod errors;
mod exit;
mod floor_report;
mod frames;
mod mock;
mod net;
mod quantiles;
mod run_file;
mod send_log;
mod stream;
mod sys;
mod table;
mod tools;
mod workload;

pub use args::{Args, ArgsError};
pub use child::{Finished, Place, Running, Usage};
pub use delta::DeltaScan;
pub use epoll::{Epoll, Interest, Ready};
pub use errors::{RowTimes, TimeErrors};
pub use exit::exit;
pub use floor_report::{FloorReport, TimerReport};
pub use frames::FrameCount;
pub use mock::Mock;
pub use net::{receive_stamped, stamp_in_control, stamp_receives};
pub use quantiles::Quantiles;
pub use run_file::RunFile;
pub use send_log::LogEntry;
pub use stream::{Sink, Stream, split_events};
pub use sys::{
    CpuTimes, Termination, fine_timers, monotonic, nap, pin, process_cpu, raise_file_limit, realtime, sleep_until,
};
pub use table::{Figure, Table};
pub use tools::Tools;
pub use workload::{Load, Workload};
