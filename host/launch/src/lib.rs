//! Launches or attaches to engines: process group, ports, readiness, identity, logs, stop ladder.
