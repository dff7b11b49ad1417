//! `workload.toml` to a [`Plan`]: pure and sync, all mistakes at once, each with its span.
//!
//! The way of the text: parsed into values that know their place, overrides put in, each table read by
//! its rows of the key table (types, ranges, unknown keys), then resolved against the adapters' manifests.
//! Nothing here opens a file, reads the environment or contacts a server.

mod catalog;
mod diagnostic;
mod estimate;
mod extra;
mod hash;
mod keys;
mod nearest;
mod options;
mod overrides;
mod plan;
mod reader;
mod reference;
mod resolve;
mod schema;
mod units;
mod value;

pub use catalog::{AdapterCatalog, CatalogError};
pub use diagnostic::{Diagnostic, LocatedDiagnostic, Report};
pub use overrides::{Override, OverrideError};
pub use plan::{
    AdapterRef, AttachPlan, ClientPlan, DatasetPlan, EnginePlan, EngineTarget, Gpus, LaunchSettings, Plan, PlanPath,
    ReportPlan, SamplingPlan, ScenarioPlan, Seeds, TracePlan,
};
pub use reference::reference;
pub use resolve::read;
pub use schema::schema;
