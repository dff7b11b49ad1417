//! Engine adapter: sim.
