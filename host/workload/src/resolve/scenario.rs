//! `[[scenario]]`: a dataset under a load.

use crate::catalog::AdapterCatalog;
use crate::extra;
use crate::keys::SCENARIO;
use crate::options::{self, Adapter, Options};
use crate::plan::{DatasetPlan, SamplingPlan, ScenarioPlan, Seeds};
use crate::reader::{Given, Section, wrong_type};
use crate::resolve::engine::adapter_ref;
use crate::resolve::load;
use crate::resolve::read::no_manifest;
use crate::value::{At, Context, Draft, Node, Value};
use bench_core::adapter::EngineManifest;
use bench_core::load::{ArrivalProcess, Limits, LoadKind, LoadSpec, Slo};
use bench_core::sample::Sampling;
use std::collections::BTreeMap;

/// What scenarios take from the rest of the workload.
pub(crate) struct With<'a> {
    /// The workload's `[seeds]`.
    pub(crate) seeds: &'a Section<'a>,
    /// The servers run already.
    pub(crate) attached: bool,
    /// The engine's manifest, where it is known.
    pub(crate) engine: Option<&'a EngineManifest>,
}

/// The scenarios that are right.
pub(crate) fn resolve_all(
    cx: &mut Context<'_>,
    root: &Section<'_>,
    with: &With<'_>,
    catalog: &dyn AdapterCatalog,
) -> Vec<ScenarioPlan> {
    let Some(Value::List(items)) = root.node("scenario").map(|n| &n.value) else { return Vec::new() };
    if items.is_empty() {
        root.missing(cx, "scenario");
    }
    let mut names: BTreeMap<String, At> = BTreeMap::new();
    let mut scenarios = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let Value::Table(table) = &item.value else {
            let kind = crate::keys::Kind::Options;
            cx.push(wrong_type(&format!("scenario[{i}]"), &kind, &item.value).at(&item.at, "in this list"));
            continue;
        };
        let path = match table.get("name").map(|e| &e.node.value) {
            Some(Value::Text(name)) => format!("scenario.{name}"),
            _ => format!("scenario.{i}"),
        };
        let section = Section::read(cx, &SCENARIO, &path, &item.at, Some(table));
        let name = section.text("name");
        if let Some(name) = &name {
            check_name(cx, name, &mut names);
        }
        scenarios.extend(resolve(cx, &section, name, with, catalog));
    }
    scenarios
}

fn check_name(cx: &mut Context<'_>, name: &Given<String>, names: &mut BTreeMap<String, At>) {
    let plain = name.value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let number = name.value.chars().all(|c| c.is_ascii_digit());
    if !plain || number || name.value.starts_with(['-', '.']) || name.value.len() > 100 {
        let draft = Draft::error(format!("`{}` can't be the name of a scenario", name.value)).at(&name.at, "here");
        cx.push(draft.help("letters, digits, `-`, `_` and `.`, not digits alone, at most 100: \"chat-4rps\""));
    }
    if let Some(before) = names.insert(name.value.clone(), name.at.clone()) {
        let draft = Draft::error(format!("two scenarios are called `{}`", name.value));
        cx.push(draft.at(&name.at, "again").at(&before, "first here").help("give each its own name"));
    }
}

/// `None` where something was said.
fn resolve(
    cx: &mut Context<'_>,
    section: &Section<'_>,
    name: Option<Given<String>>,
    with: &With<'_>,
    catalog: &dyn AdapterCatalog,
) -> Option<ScenarioPlan> {
    let dataset = section.section(cx, "dataset");
    let dataset = dataset_plan(cx, &dataset, catalog);
    let load_table = section.section(cx, "load");
    let load = load::resolve(cx, &load_table);
    let seeds_table = section.section(cx, "seeds");
    let sampling = section.section(cx, "sampling");
    let sampling = sampling_plan(cx, &sampling, with.engine);
    let slo_table = section.section(cx, "slo");
    let slo = |key: &str| slo_table.time(key).map(|t| t.value);
    let slo = Slo { ttft: slo("ttft"), tpot: slo("tpot"), itl: slo("itl"), e2e: slo("e2e") };
    let limits_table = section.section(cx, "limits");
    let limits = limits(cx, &limits_table);
    let warmup = section.section(cx, "warmup").small("requests");
    let load = load?;
    Some(ScenarioPlan {
        name: name?.value,
        dataset: dataset?,
        seeds: seeds(&seeds_table, with.seeds, load.process),
        sampling,
        slo,
        limits,
        warmup_requests: warmup.map_or_else(|| default_warmup(&load, with.attached), |w| w.value),
        load,
    })
}

fn dataset_plan(cx: &mut Context<'_>, dataset: &Section<'_>, catalog: &dyn AdapterCatalog) -> Option<DatasetPlan> {
    let name = dataset.text("adapter")?;
    let manifest = match catalog.dataset(&name.value) {
        Ok(manifest) => manifest,
        Err(error) => {
            no_manifest(cx, error, &name);
            return None;
        }
    };
    let given = dataset.node("options").and_then(|n| if let Value::Table(t) = &n.value { Some(t) } else { None });
    let adapter =
        Adapter { name: &name.value, settings: &manifest.settings, at: &name.at, path: dataset.dotted("options") };
    let Options { settings, sources } = options::resolve(cx, &adapter, given);
    Some(DatasetPlan { adapter: adapter_ref(name.value.clone(), &manifest.info), settings, sources })
}

/// Each seed: the scenario's, else the workload's, else by default.
fn seeds(own: &Section<'_>, common: &Section<'_>, process: ArrivalProcess) -> Seeds {
    let seed = |key: &str| own.integer(key).or_else(|| common.integer(key)).map(|s| s.value);
    let samples = seed("samples").unwrap_or(0);
    let arrival = seed("arrival").unwrap_or_else(|| match process {
        ArrivalProcess::Vllm011 => samples,
        ArrivalProcess::Bench => derived(samples),
    });
    Seeds { samples, order: seed("order"), arrival }
}

/// Another seed out of one, so that arrival times are not drawn from the numbers that drew the samples:
/// the first eight bytes, little-endian, of the SHA-256 of `arrival` and the seed's eight bytes.
fn derived(samples: u64) -> u64 {
    let digest = bench_core::sha256([&b"arrival"[..], &samples.to_le_bytes()].concat());
    digest.iter().take(8).rev().fold(0, |seed, byte| (seed << 8) | u64::from(*byte))
}

/// Enough to fill the engine's paths once, never more than there are requests; nothing under attach.
fn default_warmup(load: &LoadSpec, attached: bool) -> u32 {
    if attached {
        return 0;
    }
    let slots = match load.kind {
        LoadKind::Closed { concurrency, .. } => concurrency,
        _ => load.max_concurrency.unwrap_or(8),
    };
    let requests = load.requests.and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX);
    slots.min(8).min(requests)
}

fn sampling_plan(cx: &mut Context<'_>, s: &Section<'_>, engine: Option<&EngineManifest>) -> SamplingPlan {
    let can = |feature: fn(&bench_core::adapter::Features) -> bool| engine.is_none_or(|m| feature(&m.features));
    let plan = SamplingPlan {
        sampling: Sampling {
            temperature: s.number("temperature").map_or(0.0, |t| t.value as f32),
            top_p: s.number("top-p").map(|p| p.value as f32),
            top_k: s.small("top-k").map(|k| k.value),
            seed: s.integer("seed").map(|i| i.value),
        },
        max_tokens: s.small("max-tokens").map(|n| n.value),
        min_tokens: s.small("min-tokens").map(|n| n.value),
        ignore_eos: s.flag("ignore-eos").is_some_and(|f| f.value),
        stop: s.texts("stop").into_iter().map(|t| t.value).collect(),
        stream: s.flag("stream").map_or_else(|| can(|f| f.streaming), |f| f.value),
        extra: match s.node("extra") {
            Some(Node { value: Value::Table(table), .. }) => extra::fields(cx, table),
            _ => BTreeMap::new(),
        },
    };
    if let (Some(least), Some(most)) = (s.small("min-tokens"), s.small("max-tokens"))
        && least.value > most.value
    {
        let draft = Draft::error("`min-tokens` is more than `max-tokens`");
        cx.push(draft.at(&least.at, "at least").at(&most.at, "at most").help("lower the one or raise the other"));
    }
    let Some(manifest) = engine else { return plan };
    let f = &manifest.features;
    for (key, asked, able) in [
        ("ignore-eos", plan.ignore_eos, f.ignore_eos),
        ("min-tokens", plan.min_tokens.is_some(), f.min_tokens),
        ("stop", !plan.stop.is_empty(), f.stop_texts),
        ("seed", plan.sampling.seed.is_some(), f.seed),
        ("stream", plan.stream, f.streaming),
    ] {
        if let Some(at) = s.place(key).filter(|_| asked && !able) {
            let draft = Draft::error(format!("engine adapter `{}` has no `{key}`", manifest.info.id));
            cx.push(draft.at(at, "can't be asked for").help("leave it out, or pass the engine's own field by `extra`"));
        }
    }
    plan
}

fn limits(cx: &mut Context<'_>, l: &Section<'_>) -> Limits {
    let by_default = Limits::default();
    let time = |key: &str| l.time(key).map(|t| t.value);
    let limits = Limits {
        request_timeout: time("request-timeout").unwrap_or(by_default.request_timeout),
        connect_timeout: time("connect-timeout").unwrap_or(by_default.connect_timeout),
        first_token_timeout: time("first-token-timeout"),
        inter_token_timeout: time("inter-token-timeout"),
        drain_timeout: time("drain-timeout"),
        max_event_bytes: l.integer("max-event").map_or(by_default.max_event_bytes, |b| b.value),
        max_response_bytes: l.integer("max-response").map_or(by_default.max_response_bytes, |b| b.value),
        max_failure_rate: l.number("max-failure-rate").map_or(by_default.max_failure_rate, |r| r.value),
    };
    let event = l.integer("max-event");
    if let Some(event) = event.filter(|_| limits.max_event_bytes > limits.max_response_bytes) {
        let mut draft = Draft::error("`max-event` is more than `max-response`").at(&event.at, "one event");
        if let Some(whole) = l.place("max-response") {
            draft = draft.at(whole, "the whole answer");
        }
        cx.push(draft.help("raise `max-response`: an answer is at least as long as its longest event"));
    }
    for key in ["first-token-timeout", "inter-token-timeout"] {
        if let Some(part) = l.time(key).filter(|t| t.value > limits.request_timeout) {
            let mut draft =
                Draft::error(format!("`{key}` is longer than `request-timeout`")).at(&part.at, "never reached");
            if let Some(whole) = l.place("request-timeout") {
                draft = draft.at(whole, "ends the request before");
            }
            cx.push(draft.help("lower it, or raise `request-timeout`"));
        }
    }
    limits
}
