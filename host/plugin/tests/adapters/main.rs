//! Adapters in the sandbox, seen from outside. One binary, for it links the whole runtime.

mod common;
mod dataset;
mod engine;
mod loading;
mod tokenizer;
