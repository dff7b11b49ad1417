//! `bench-host plugins`.

use crate::args::{Global, PlanFormat, Plugins, PluginsAction};
use crate::catalog::{self, Adapters, Loaded};
use crate::diagnostics::Failure;
use crate::exit::Exit;
use crate::terminal::Terminal;
use bench_core::adapter::{AdapterInfo, Setting, SettingKind, SettingValue};
use bench_plugin::{AdapterKind, PluginError};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

pub(super) fn run(args: &Plugins, global: &Global, terminal: &Terminal) -> Result<Exit, Failure> {
    let adapters = Adapters::new(global, Path::new(""))?;
    let text = match &args.action {
        PluginsAction::List => list(&adapters).map_err(|e| catalog::failure("failed to list the adapters", &e))?,
        PluginsAction::Inspect { adapter, format } => inspect(&adapters, adapter, *format)?,
    };
    terminal.print(&text)?;
    Ok(Exit::Success)
}

fn list(adapters: &Adapters) -> Result<String, PluginError> {
    let mut out = String::new();
    let mut line = |kind: AdapterKind, info: &AdapterInfo| {
        let kind = kind.as_str();
        let _ = writeln!(out, "{kind:<8} {:<14} {:<8} {}", info.id, info.version, info.summary);
    };
    for id in adapters.bundled(AdapterKind::Engine) {
        line(AdapterKind::Engine, &adapters.engine_adapter(id)?.adapter.manifest().info);
    }
    for id in adapters.bundled(AdapterKind::Dataset) {
        line(AdapterKind::Dataset, &adapters.dataset_adapter(id)?.adapter.manifest().info);
    }
    Ok(out)
}

fn inspect(adapters: &Adapters, name: &str, format: PlanFormat) -> Result<String, Failure> {
    let failed = |e: &PluginError| catalog::failure(format!("failed to inspect `{name}`"), e);
    let engine_error = match adapters.engine_adapter(name) {
        Ok(loaded) => {
            let manifest = loaded.adapter.manifest();
            return show(&loaded, &manifest.info, &manifest.settings, &json!(manifest), format);
        }
        Err(e) => e,
    };
    match adapters.dataset_adapter(name) {
        Ok(loaded) => {
            let manifest = loaded.adapter.manifest();
            show(&loaded, &manifest.info, &manifest.settings, &json!(manifest), format)
        }
        // A component that is broken as what it is says more than that it isn't the other kind.
        Err(PluginError::Load { .. } | PluginError::Unknown { .. }) => Err(failed(&engine_error)
            .help("`bench-host plugins list` shows the bundled ones; a file of your own ends in `.wasm`")),
        Err(e) => Err(failed(&e)),
    }
}

fn show<A>(
    loaded: &Loaded<A>,
    info: &AdapterInfo,
    settings: &[Setting],
    manifest: &Value,
    format: PlanFormat,
) -> Result<String, Failure> {
    let run = &loaded.run;
    if format == PlanFormat::Json {
        let all = json!({
            "kind": run.kind, "contract": loaded.contract, "sha256": run.sha256, "origin": run.origin,
            "imports": loaded.imports, "manifest": manifest,
        });
        let text = serde_json::to_string_pretty(&all)
            .map_err(|e| Failure::internal("failed to write the adapter's description").because(&e))?;
        return Ok(format!("{text}\n"));
    }
    let mut out = format!("{} ({} adapter `{}` {})\n{}\n\n", info.name, run.kind, info.id, info.version, info.summary);
    let _ = writeln!(out, "contract  {}", loaded.contract);
    let _ = writeln!(out, "digest    sha256:{}", run.sha256);
    let _ = writeln!(out, "origin    {}", run.origin);
    let _ = writeln!(out, "licence   {}", info.license);
    let _ = writeln!(out, "imports   {}", or_none(&loaded.imports));
    grants(&mut out, manifest);
    let _ = writeln!(out, "\noptions");
    for setting in settings {
        let default = setting.default.as_ref().map_or(String::new(), |d| format!(", default {}", value(d)));
        let required = if setting.required { ", required" } else { "" };
        let _ = writeln!(out, "  {} ({}{required}{default})", setting.key, kind(&setting.kind));
        let _ = writeln!(out, "      {}", setting.doc.replace('\n', "\n      "));
    }
    Ok(out)
}

/// What an engine adapter may make the host start.
fn grants(out: &mut String, manifest: &Value) {
    let names = |key: &str, inner: Option<&str>| -> Vec<String> {
        let list = manifest.get(key).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|v| inner.map_or(Some(v), |k| v.get(k))?.as_str().map(str::to_owned)).collect()
    };
    if manifest.get("programs").is_some() {
        let _ = writeln!(out, "programs  {}", or_none(&names("programs", Some("name"))));
        let _ = writeln!(out, "env       {}", or_none(&names("env", None)));
        let _ = writeln!(out, "secrets   {}", or_none(&names("secrets", None)));
    }
}

fn or_none(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn kind(kind: &SettingKind) -> String {
    let range = |word: &str, min: Option<String>, max: Option<String>| match (min, max) {
        (None, None) => word.to_owned(),
        (Some(a), None) => format!("{word} from {a}"),
        (None, Some(b)) => format!("{word} up to {b}"),
        (Some(a), Some(b)) => format!("{word} from {a} to {b}"),
    };
    match kind {
        SettingKind::Boolean => "true or false".to_owned(),
        SettingKind::Integer { min, max } => range("integer", min.map(|v| v.to_string()), max.map(|v| v.to_string())),
        SettingKind::Number { min, max } => range("number", min.map(|v| v.to_string()), max.map(|v| v.to_string())),
        SettingKind::Text => "text".to_owned(),
        SettingKind::Choice(items) => {
            items.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
        }
        SettingKind::TextList => "list of texts".to_owned(),
        SettingKind::TextMap => "table of texts".to_owned(),
        SettingKind::Duration => "time, such as `\"1.5s\"`".to_owned(),
        SettingKind::Size => "size, such as `\"16GiB\"`".to_owned(),
        SettingKind::Source => "path of a file".to_owned(),
    }
}

fn value(value: &SettingValue) -> String {
    match value {
        SettingValue::Text(t) => format!("`{t}`"),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}
