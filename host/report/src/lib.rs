//! Figures over a trace: summary, verdict, identities, printed blocks.
