//! `bench-host schema`.

use crate::args::Global;
use crate::catalog::{self, Adapters};
use crate::diagnostics::Failure;
use crate::exit::Exit;
use crate::terminal::Terminal;
use bench_plugin::{AdapterKind, PluginError};
use std::path::Path;

pub(super) fn run(global: &Global, terminal: &Terminal) -> Result<Exit, Failure> {
    let adapters = Adapters::new(global, Path::new(""))?;
    let schema = schema(&adapters).map_err(|e| catalog::failure("failed to describe a bundled adapter", &e))?;
    let text = serde_json::to_string_pretty(&schema)
        .map_err(|e| Failure::internal("failed to write the schema").because(&e))?;
    terminal.print(&format!("{text}\n"))?;
    Ok(Exit::Success)
}

fn schema(adapters: &Adapters) -> Result<serde_json::Value, PluginError> {
    let mut engines = Vec::new();
    for id in adapters.bundled(AdapterKind::Engine) {
        engines.push(adapters.engine_adapter(id)?.adapter.manifest().clone());
    }
    let mut datasets = Vec::new();
    for id in adapters.bundled(AdapterKind::Dataset) {
        datasets.push(adapters.dataset_adapter(id)?.adapter.manifest().clone());
    }
    Ok(bench_workload::schema(&engines, &datasets))
}
