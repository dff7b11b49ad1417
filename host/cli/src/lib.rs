//! The command line of bench-host: arguments, exit codes, diagnostics, progress, and the session that
//! takes a workload file to a trace.

mod app;
pub mod args;
mod bundled;
mod catalog;
mod command;
mod diagnostics;
mod exit;
mod progress;
mod session;
mod signals;
mod terminal;

pub use app::main_with;
pub use exit::Exit;
