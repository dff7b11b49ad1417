//! Engine adapter: vllm.
