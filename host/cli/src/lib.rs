//! The bench-host binary.
