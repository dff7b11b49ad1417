//! The whole workload.

use crate::catalog::{AdapterCatalog, CatalogError};
use crate::diagnostic::Report;
use crate::keys::ROOT;
use crate::overrides::{Override, apply};
use crate::plan::{ClientPlan, Plan, PlanPath, ReportPlan, TracePlan};
use crate::reader::{Given, Section, as_f64};
use crate::resolve::{engine, scenario};
use crate::value::{At, Context, Draft, Table, Value, parse};
use std::path::Path;
use std::sync::Arc;

/// Percentiles of every latency where the workload names none.
const PERCENTILES: [f64; 4] = [90.0, 95.0, 99.0, 99.9];

/// Reads a workload: its text to a plan, and what there is to warn of.
///
/// `source_name` is shown in diagnostics; relative paths are relative to `base_dir`; `overrides` replace
/// values before anything is checked; `catalog` gives the manifests of adapters. No file is opened: those
/// that the workload names need not exist.
///
/// # Errors
/// All mistakes at once, each with its place; warnings are among them.
pub fn read(
    source_name: &str,
    text: &str,
    base_dir: &Path,
    overrides: &[Override],
    catalog: &dyn AdapterCatalog,
) -> Result<(Plan, Report), Report> {
    let report = |diagnostics| Report { source_name: source_name.to_owned(), text: Arc::from(text), diagnostics };
    let mut root = parse(text).map_err(report)?;
    let mut cx = Context::new(base_dir, overrides);
    apply(&mut cx, &mut root, overrides);
    let plan = resolve(&mut cx, &root, catalog);
    let clean = cx.is_clean();
    let diagnostics = cx.into_diagnostics();
    match plan {
        Some(plan) if clean => Ok((plan, report(diagnostics))),
        _ => Err(report(diagnostics)),
    }
}

/// `None` only where something was said.
fn resolve(cx: &mut Context<'_>, root: &Table, catalog: &dyn AdapterCatalog) -> Option<Plan> {
    let root = Section::read(cx, &ROOT, "", &At::Whole, Some(root));
    let name = root.text("name");
    if let Some(name) = name.as_ref().filter(|n| n.value.len() > 200 || n.value.contains(char::is_control)) {
        let draft = Draft::error("`name` is too long, or has control characters").at(&name.at, "here");
        cx.push(draft.help("write one line of at most 200 bytes"));
    }
    let target = engine::resolve(cx, &root, catalog);
    let tokenizer = root.section(cx, "tokenizer").text("path").map(|p| plan_path(cx, &p));
    let seeds = root.section(cx, "seeds");
    let with = scenario::With {
        seeds: &seeds,
        attached: root.section_has("engine", "attach"),
        engine: target.manifest.as_ref(),
    };
    let scenarios = scenario::resolve_all(cx, &root, &with, catalog);
    let repeats = root.section(cx, "repeat").small("count").map_or(1, |c| c.value);
    let text = root.section(cx, "trace").flag("text").is_some_and(|t| t.value);
    let client = client(cx, &root);
    let percentiles = percentiles(cx, &root);
    Some(Plan {
        name: name?.value,
        engine: target.plan?,
        tokenizer,
        scenarios,
        repeats,
        trace: TracePlan { text },
        client,
        report: ReportPlan { percentiles },
        asked: std::mem::take(&mut cx.asked),
    })
}

fn client(cx: &mut Context<'_>, root: &Section<'_>) -> ClientPlan {
    let section = root.section(cx, "client");
    let cores = section.text("cores").map(|given| {
        core_list(&given.value).unwrap_or_else(|| {
            let draft = Draft::error(format!("`{}` is no list of cores", given.value)).at(&given.at, "here");
            cx.push(draft.help("write numbers and ranges, as `\"2-5,8\"`"));
            Vec::new()
        })
    });
    ClientPlan {
        threads: section.small("threads").map(|t| t.value),
        cores: cores.unwrap_or_default(),
        transport: section.text("transport").map(|t| t.value),
        cold_connections: section.text("connections").is_some_and(|c| c.value == "cold"),
    }
}

/// `2-5,8` as numbers, of at most 1024 cores.
fn core_list(text: &str) -> Option<Vec<u32>> {
    let mut cores = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last >= 1024 {
            return None;
        }
        cores.extend(first..=last);
    }
    Some(cores)
}

/// A path relative to the workload file.
pub(crate) fn plan_path(cx: &Context<'_>, written: &Given<String>) -> PlanPath {
    PlanPath { written: written.value.clone(), path: cx.base_dir.join(&written.value) }
}

/// Says why there is no manifest.
pub(crate) fn no_manifest(cx: &mut Context<'_>, error: CatalogError, adapter: &Given<String>) {
    cx.push(Draft::error(error.message).at(&adapter.at, "this adapter").maybe_help(error.help));
}

fn percentiles(cx: &mut Context<'_>, root: &Section<'_>) -> Vec<f64> {
    let report = root.section(cx, "report");
    let Some(Value::List(items)) = report.node("percentiles").map(|n| &n.value) else {
        return PERCENTILES.to_vec();
    };
    let mut all = Vec::new();
    for item in items {
        let x = as_f64(&item.value);
        if x > 0.0 && x < 100.0 {
            all.push(x);
        } else {
            let draft = Draft::error("this is no percentile").at(&item.at, "here");
            cx.push(draft.help("write numbers above 0 and below 100: `[50, 99, 99.9]`"));
        }
    }
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}
