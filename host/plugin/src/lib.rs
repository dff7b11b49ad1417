//! The host of WASM adapters.
//!
//! Engine and dataset adapters are WebAssembly components that export one interface of the contract
//! (`sdk/wit`). This crate finds them, checks which version of the contract they were built for, and
//! calls them inside a sandbox: nothing but the imports of their world, a limit on memory, on time and on
//! what an answer may weigh, for every call. What comes back is verified before anything else sees it.
//!
//! [`PluginHost`] is the entry; [`EngineAdapter`] and [`DatasetAdapter`] are loaded adapters in terms of
//! `bench-core`, whatever version of the contract they speak. [`Tokenizer`] is the model's tokenizer, run
//! natively.

mod catalog;
mod component;
mod dataset;
mod engine;
mod error;
mod granted;
mod host;
mod limits;
mod records;
mod runtime;
mod state;
mod ticker;
mod tokenizer;
mod verify;
mod wit;

pub use catalog::{AdapterKind, AdapterSource, BundledAdapter, Origin};
pub use dataset::{DatasetAdapter, DatasetInputs, DatasetReader};
pub use engine::EngineAdapter;
pub use error::{AdapterError, PluginError};
pub use host::{PluginConfig, PluginHost};
pub use limits::{Deadlines, KindLimits, Limits};
pub use tokenizer::{Tokenizer, TokenizerError};
