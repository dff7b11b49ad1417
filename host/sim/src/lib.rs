//! A simulated continuous-batching engine with known timings and scripted faults.
