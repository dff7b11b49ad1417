//! `vllm bench serve`, of two versions.
//!
//! Where the rules differ from ours: in 0.11 every event with choices is a token (the role chunk and an empty
//! last one too), the last event of any kind ends the answer, and HTTP 200 is a success whatever came; in
//! 0.33 only content counts. TPOT divides by output tokens - 1, peaks count events and overlapping seconds,
//! and what there is none of is 0.

mod block;
mod figures;
mod of_rows;
mod success;
mod version;

pub use block::{BlockOptions, block};
pub use figures::{Figures, GapPool, Tally};
pub use of_rows::blocks;
pub use success::{Success, success};
pub use version::{UnknownVersion, Version};
