//! Engine adapter: tensorrt-llm.
