#![doc = include_str!("../README.md")]

// The generated code names this crate from inside it and from the adapters.
extern crate self as bench_sdk;

#[doc(hidden)]
#[rustfmt::skip]
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::unwrap_used, reason = "generated")]
pub mod bindings;

pub mod command;
pub mod dataset;
pub mod engine;
pub mod launch;
pub mod log;
mod messages;
pub mod openai;
pub mod setting;
mod settings;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
pub mod types;

pub use dataset::{Dataset, Reader};
pub use engine::Engine;
pub use settings::Settings;
pub use types::{Diagnostic, Error, Info, Setting, SettingKind, Severity, Value};
