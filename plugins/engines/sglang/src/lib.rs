//! Engine adapter: sglang.
