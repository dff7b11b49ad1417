//! Request records to Parquet and back; the run directory.
//!
//! A run directory holds `run.json` ([`RunInfo`]) and `requests.parquet` (a row per request attempt). While
//! the run goes on rows go to a journal, so that a kill loses next to nothing; [`Trace::open`] turns what a
//! killed run left into a trace. The columns are a contract: `README.md` lists them.

mod cell;
mod chunk;
mod columns;
mod decode;
mod delta;
mod error;
mod hardware;
mod hybrid;
mod journal;
mod part;
mod queue;
mod reader;
mod recover;
mod row;
mod run_dir;
mod run_info;
mod schema;
mod values;
mod version;
mod wall_time;
mod writer;

pub use columns::COLUMNS;
pub use error::TraceError;
pub use hardware::{Gpu, Hardware};
pub use reader::{Batches, Records, Trace};
pub use recover::Recovery;
pub use run_dir::RunDir;
pub use run_info::{
    AdapterRun, ClientHealth, ClientStats, EngineRun, LaunchedProcess, RunInfo, RunState, ScenarioInfo, Seeds,
    SelfTest, SelfTestStep, SpreadStats, ThreadStats, TokenizerInfo, Window,
};
pub use schema::Column;
pub use version::{FORMAT, FormatVersion, VersionError};
pub use wall_time::WallTime;
pub use writer::{Progress, SendError, TraceSender, TraceStats, TraceWriter, WriterConfig};

pub use arrow::record_batch::RecordBatch;
