//! workload.toml to a plan: pure, all mistakes at once, each with its span.
