//! The host of WASM adapters: limits, cache, one module per contract version, the tokenizer.
