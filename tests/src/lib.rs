//! End-to-end and whole-repository tests of bench-host.
