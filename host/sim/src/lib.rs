//! A simulated continuous-batching engine with known timings and scripted faults: a real HTTP/1.1 server that speaks
//! the OpenAI dialect (`README.md` in this folder says what it keeps to, and how exactly).

mod body;
mod clock;
pub mod config;
mod engine;
pub mod fault;
mod random;
mod render;
mod request;
mod server;
mod service;
mod state;
mod text;
mod wire;

pub use config::{ConfigError, KeepAlive, ReasoningField, RoleChunk, SimConfig, StepMode, UsageMode};
pub use fault::{Fault, FaultKind};
pub use server::{SimHandle, SimServer};
