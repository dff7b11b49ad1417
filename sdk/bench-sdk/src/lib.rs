//! Everything that a bench-host adapter written in Rust needs.
