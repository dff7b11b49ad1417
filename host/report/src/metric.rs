//! The figures, one a file: what each means and how it is computed.

mod concurrency;
mod e2e;
mod failure_rate;
mod goodput;
mod itl;
mod peak;
mod queue_wait;
mod read_lag;
mod registry;
mod response_time;
mod send_lateness;
mod throughput;
mod token_totals;
mod tokens_per_event;
mod tpot;
mod ttfo;
mod ttft;

pub use registry::{Better, FIGURES, FigureDef, Measured, Unit, figure, reference};
