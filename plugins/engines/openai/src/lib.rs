//! Engine adapter: openai.
