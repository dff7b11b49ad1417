//! A simulated continuous-batching engine with known timings and scripted faults.

pub mod config;
pub mod fault;

pub use config::{ConfigError, KeepAlive, ReasoningField, RoleChunk, SimConfig, StepMode, UsageMode};
pub use fault::{Fault, FaultKind};
