//! Launches or attaches to engines: process group, ports, readiness, identity, logs, stop ladder.

mod attach;
mod error;
mod grant;
mod identity;
mod launcher;
mod log;
mod options;
mod port;
mod process;
mod procfs;
mod ready;
mod shell;
mod stop;

pub use attach::{Attached, attach, server_root};
pub use error::LaunchError;
pub use grant::Grant;
pub use identity::{Identity, ServedModel};
pub use launcher::{Launcher, Replica};
pub use options::{HttpGet, LaunchOptions, Progress};
pub use port::free_ports;
pub use process::ExitInfo;
pub use shell::shell_line;
pub use stop::{EndedBy, ProcessEnd, StopReport};
