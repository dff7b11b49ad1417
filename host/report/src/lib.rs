//! Figures over a trace: summary, verdict, identities, printed blocks.
//!
//! [`summarize`] makes a [`Summary`] of a trace ([`summarize_rows`] of any rows and [`Facts`]); it is pure, so
//! the same run directory gives the same summary, bit for bit. [`format`] shows one; [`compat`] prints what another tool would have printed of
//! the same rows. `FIGURES.md` says what each figure means.

pub mod columns;
pub mod compat;
mod error;
mod facts;
pub mod format;
mod group;
mod identity;
pub mod metric;
mod of_trace;
mod source;
pub mod stats;
mod summarize;
mod summary;
mod verdict;
mod window;

pub use error::ReportError;
pub use facts::{Facts, RunMeta, ScenarioFacts, Trust, WindowFacts};
pub use group::GroupKey;
pub use identity::IdentityCheck;
pub use of_trace::summarize;
pub use source::{HEAD, RowSource};
pub use summarize::summarize_rows;
pub use summary::{
    FORMAT, Figure, Figures, LoadLine, NoteLine, RequestCounts, ScenarioResult, SloResult, Summary, TokenLine,
    WindowLine,
};
pub use verdict::{Level, Reason, Status, Verdict};
pub use window::Window;
