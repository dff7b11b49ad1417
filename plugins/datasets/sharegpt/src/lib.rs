//! Dataset adapter: sharegpt.
