//! From a workload file to a trace and its summary.

mod engine;
mod finish;
mod load;
mod prepare;
mod run;

pub(crate) use engine::remark;
pub(crate) use run::{Asked, run};
