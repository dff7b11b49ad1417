//! Dataset adapter: jsonl.
