//! Adapters in the sandbox, seen from outside. One binary, for it links the whole runtime.

#![allow(clippy::unwrap_used, reason = "what a test prepares must work")]

mod common;
mod dataset;
mod engine;
mod loading;
mod tokenizer;
