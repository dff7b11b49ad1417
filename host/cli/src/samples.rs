//! Drawing the samples of a scenario.

use crate::catalog::{self, Adapters};
use crate::diagnostics::Failure;
use crate::exit::Exit;
use bench_core::adapter::{AdapterDiagnostic, Severity, TokenizerNeed};
use bench_core::load::LoadKind;
use bench_core::random::PythonRandom;
use bench_core::sample::{Sample, SampleNote};
use bench_plugin::{DatasetInputs, Tokenizer};
use bench_workload::{Plan, PlanPath, ScenarioPlan};
use std::cell::OnceCell;
use std::sync::Arc;

/// Samples prepared for a closed loop that is bound by time alone; they are sent again where they don't last.
const POOL: u64 = 1000;
/// Samples asked of an adapter in one call.
const BATCH: u32 = 256;

/// The workload's tokenizer, loaded where something needs it.
pub(crate) struct LazyTokenizer<'a> {
    path: Option<&'a PlanPath>,
    loaded: OnceCell<Arc<Tokenizer>>,
}

impl<'a> LazyTokenizer<'a> {
    /// That of a plan.
    pub(crate) fn of(plan: &'a Plan) -> LazyTokenizer<'a> {
        LazyTokenizer { path: plan.tokenizer.as_ref(), loaded: OnceCell::new() }
    }

    /// The tokenizer; `None` where the workload has none.
    ///
    /// # Errors
    /// Its file can't be used.
    pub(crate) fn get(&self) -> Result<Option<&Arc<Tokenizer>>, Failure> {
        let Some(path) = self.path else { return Ok(None) };
        if self.loaded.get().is_none() {
            let tokenizer =
                Tokenizer::load(&path.path).map_err(|e| Failure::input("failed to load the tokenizer").because(&e))?;
            return Ok(Some(self.loaded.get_or_init(|| Arc::new(tokenizer))));
        }
        Ok(self.loaded.get())
    }

    /// The tokenizer if something loaded it.
    pub(crate) fn used(&self) -> Option<(&PlanPath, &Arc<Tokenizer>)> {
        Some((self.path?, self.loaded.get()?))
    }
}

/// The samples of a scenario.
pub(crate) struct Drawn {
    /// In the order in which they are sent.
    pub(crate) samples: Vec<Sample>,
    /// What the adapter says of them.
    pub(crate) notes: Vec<SampleNote>,
    /// How many were asked for.
    pub(crate) wanted: u64,
    /// The load may need more than there are, and starts over.
    pub(crate) cycle: bool,
}

/// Draws the samples of a scenario.
///
/// # Errors
/// The dataset's settings, its data or its adapter are at fault, or it yields nothing.
pub(crate) fn draw(
    adapters: &Adapters,
    scenario: &ScenarioPlan,
    tokenizer: &LazyTokenizer<'_>,
) -> Result<Drawn, Failure> {
    let dataset = &scenario.dataset;
    let name = &scenario.name;
    let failed = |e: &bench_plugin::PluginError| {
        catalog::failure(format!("scenario `{name}`: dataset `{}` failed", dataset.adapter.id), e)
    };
    let loaded = adapters.dataset_adapter(&dataset.adapter.written).map_err(|e| failed(&e))?;
    let adapter = &loaded.adapter;
    let said = adapter.check(&dataset.settings).map_err(|e| failed(&e))?;
    refuse_errors(&said, &format!("scenario `{name}`: the options of dataset `{}` can't work", dataset.adapter.id))?;
    let tokenizer = match adapter.needs_tokenizer(&dataset.settings).map_err(|e| failed(&e))? {
        TokenizerNeed::Never => None,
        TokenizerNeed::IfPresent => tokenizer.get()?.cloned(),
        TokenizerNeed::Required => Some(tokenizer.get()?.cloned().ok_or_else(|| {
            Failure::input(format!("scenario `{name}`: dataset `{}` needs the model's tokenizer", dataset.adapter.id))
                .help("add `[tokenizer]` with `path = \"tokenizer.json\"` to the workload")
        })?),
    };
    let (wanted, cycle) = wanted(scenario);
    let sources = dataset.sources.iter().map(|(key, path)| (key.clone(), path.path.clone())).collect();
    let inputs =
        DatasetInputs { settings: dataset.settings.clone(), sources, tokenizer, seed: scenario.seeds.samples, wanted };
    let mut reader = adapter.open(inputs).map_err(|e| failed(&e))?;
    let mut samples: Vec<Sample> = Vec::new();
    loop {
        let left = wanted - samples.len() as u64;
        let batch = u32::try_from(left).unwrap_or(BATCH).min(BATCH);
        let more = if batch == 0 { Vec::new() } else { reader.next(batch).map_err(|e| failed(&e))? };
        if more.is_empty() {
            break;
        }
        samples.extend(more);
    }
    if samples.is_empty() {
        return Err(Failure::input(format!("scenario `{name}`: dataset `{}` yields no sample", dataset.adapter.id))
            .help("look at its file and options; `bench-host samples` shows what it yields"));
    }
    let notes = reader.notes().map_err(|e| failed(&e))?;
    if let Some(seed) = scenario.seeds.order {
        PythonRandom::new(seed).shuffle(&mut samples);
    }
    Ok(Drawn { samples, notes, wanted, cycle })
}

/// How many samples a scenario takes, and whether it starts over when they are all sent.
fn wanted(scenario: &ScenarioPlan) -> (u64, bool) {
    let load = &scenario.load;
    match (load.requests, &load.kind) {
        (Some(n), _) => (n, false),
        (None, LoadKind::Closed { .. }) => (POOL, true),
        (None, _) => (bench_load::arrival::offsets(load, scenario.seeds.arrival, None).len() as u64, false),
    }
}

/// Turns an adapter's errors into a failure.
pub(crate) fn refuse_errors(said: &[AdapterDiagnostic], what: &str) -> Result<(), Failure> {
    let errors: Vec<&AdapterDiagnostic> = said.iter().filter(|d| d.severity == Severity::Error).collect();
    let Some(first) = errors.first() else { return Ok(()) };
    let line = |d: &AdapterDiagnostic| {
        d.key.as_ref().map_or_else(|| d.message.clone(), |key| format!("`{key}`: {}", d.message))
    };
    let causes = errors.iter().map(|d| line(d)).collect();
    let help = first.help.clone();
    Err(Failure::Plain { exit: Exit::BadInput, message: what.to_owned(), causes, help })
}

/// What the user should know of drawn samples, a line each.
pub(crate) fn remarks(drawn: &Drawn) -> Vec<String> {
    let mut lines: Vec<String> = drawn
        .notes
        .iter()
        .map(|n| {
            let at = n.offset.map_or(String::new(), |o| format!(" (the first at byte {o})"));
            format!("{}: {} × {}{at}", n.code, n.count, n.message)
        })
        .collect();
    if (drawn.samples.len() as u64) < drawn.wanted && !drawn.cycle {
        lines.push(format!("the dataset has {} samples of the {} asked for", drawn.samples.len(), drawn.wanted));
    }
    lines
}
