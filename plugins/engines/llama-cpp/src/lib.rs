//! Engine adapter: llama-cpp.
