//! The command line of bench-host: arguments, exit codes, diagnostics, progress, and the session that
//! takes a workload file to a trace.

mod allocator;
mod app;
mod args;
pub mod bundled;
mod catalog;
mod command;
mod diagnostics;
mod engine_plan;
mod exit;
mod outcome;
mod progress;
mod reference;
mod samples;
mod selftest;
mod session;
mod signals;
mod terminal;
mod workload;

pub use app::main_with;
pub use exit::Exit;
pub use reference::reference;
