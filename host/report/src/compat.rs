//! What other tools would have printed of the same rows, by their rules, faults and all.

pub mod vllm;

pub use crate::of_trace::vllm_011;
