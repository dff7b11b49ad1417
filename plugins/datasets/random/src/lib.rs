//! Dataset adapter: random.
