//! `[engine]`: the adapter, the model, and how there comes to be a server.

use crate::catalog::AdapterCatalog;
use crate::nearest::suggestion;
use crate::options::{self, Adapter};
use crate::plan::{AdapterRef, AttachPlan, EnginePlan, EngineTarget, Gpus, LaunchSettings, PlanPath};
use crate::reader::{Given, Section, wrong_type};
use crate::resolve::read::{no_manifest, plan_path};
use crate::value::{Context, Draft, Node, Value};
use bench_core::adapter::{AdapterInfo, EngineManifest};
use bench_core::launch::{EnvValue, Model};
use std::collections::{BTreeMap, BTreeSet};

/// What became of `[engine]`.
pub(crate) struct Resolved {
    /// `None` where something was said.
    pub(crate) plan: Option<EnginePlan>,
    /// `None` where the adapter is not known.
    pub(crate) manifest: Option<EngineManifest>,
}

pub(crate) fn resolve(cx: &mut Context<'_>, root: &Section<'_>, catalog: &dyn AdapterCatalog) -> Resolved {
    let engine = root.section(cx, "engine");
    let adapter = engine.text("adapter");
    let manifest = adapter.as_ref().and_then(|a| match catalog.engine(&a.value) {
        Ok(manifest) => Some(manifest),
        Err(error) => {
            no_manifest(cx, error, a);
            None
        }
    });
    let model_path = engine.text("model-path").map(|p| plan_path(cx, &p));
    let model = engine.text("model").map(|name| model(&engine, name.value, model_path.as_ref()));
    let target = target(cx, &engine, manifest.as_ref());
    let settings = match (&adapter, &manifest) {
        (Some(a), Some(m)) => Some(settings(cx, &engine, a, m)),
        _ => None,
    };
    let plan = match (adapter, &manifest, model, settings) {
        (Some(adapter), Some(manifest), Some(model), Some(settings)) => {
            let adapter = adapter_ref(adapter.value, &manifest.info);
            Some(EnginePlan { adapter, model, model_path, settings, target })
        }
        _ => None,
    };
    Resolved { plan, manifest }
}

/// An adapter as the plan keeps it.
pub(crate) fn adapter_ref(written: String, info: &AdapterInfo) -> AdapterRef {
    AdapterRef { written, id: info.id.clone(), version: info.version.clone() }
}

fn model(engine: &Section<'_>, name: String, path: Option<&PlanPath>) -> Model {
    Model {
        location: path.map_or_else(|| name.clone(), |p| p.path.to_string_lossy().into_owned()),
        revision: engine.text("revision").map(|r| r.value),
        served_as: engine.text("served-as").map_or_else(|| name.clone(), |s| s.value),
        name,
    }
}

fn settings(
    cx: &mut Context<'_>,
    engine: &Section<'_>,
    name: &Given<String>,
    manifest: &EngineManifest,
) -> bench_core::adapter::Settings {
    let given = engine.node("options").and_then(|n| if let Value::Table(t) = &n.value { Some(t) } else { None });
    let adapter =
        Adapter { name: &name.value, settings: &manifest.settings, at: &name.at, path: engine.dotted("options") };
    let options = options::resolve(cx, &adapter, given);
    for key in options.sources.keys() {
        let draft = Draft::error(format!("option `{key}` of engine adapter `{}` is a file", name.value));
        cx.push(
            draft
                .at(&name.at, "this adapter")
                .help("only dataset adapters are granted files; report this to its author"),
        );
    }
    options.settings
}

fn target(cx: &mut Context<'_>, engine: &Section<'_>, manifest: Option<&EngineManifest>) -> EngineTarget {
    if let (Some(launch), Some(attach)) = (engine.place("launch"), engine.place("attach")) {
        let draft = Draft::error("`[engine.launch]` and `[engine.attach]` can't both be there")
            .at(attach, "measure what runs already")
            .at(launch, "start the engine");
        cx.push(draft.help("keep the one that is meant"));
    }
    let launch = engine.section(cx, "launch");
    let attach = engine.section(cx, "attach");
    if engine.has("attach") {
        return EngineTarget::Attach(attach_plan(cx, &attach));
    }
    if let Some(m) = manifest.filter(|m| !m.launchable) {
        let message = format!("adapter `{}` can't launch an engine", m.info.id);
        let at = engine.place("launch").or_else(|| engine.place("adapter")).unwrap_or(&engine.at);
        let help = "attach to a running server: [engine.attach] with urls = [\"http://127.0.0.1:8000\"]";
        cx.push(Draft::error(message).at(at, "here").help(help));
    }
    EngineTarget::Launch(launch_settings(cx, &launch, manifest))
}

fn launch_settings(cx: &mut Context<'_>, launch: &Section<'_>, manifest: Option<&EngineManifest>) -> LaunchSettings {
    let replicas = launch.small("replicas");
    let port = launch.small("port").map(|p| Given { value: p.value as u16, at: p.at });
    if let (Some(r), Some(p)) = (&replicas, &port)
        && u32::from(p.value) + r.value - 1 > 65535
    {
        let draft = Draft::error(format!("there are not {} ports from {} on", r.value, p.value));
        cx.push(draft.at(&p.at, "port of the first replica").at(&r.at, "one port each").help("choose a lower port"));
    }
    LaunchSettings {
        gpus: gpus(cx, launch, replicas.as_ref()),
        replicas: replicas.map_or(1, |r| r.value),
        host: launch.text("host").map_or_else(|| "127.0.0.1".to_owned(), |h| h.value),
        port: port.map(|p| p.value),
        ready_timeout: launch.time("ready-timeout").map(|t| t.value),
        extra_args: launch.texts("extra-args").into_iter().map(|t| t.value).collect(),
        env: env(cx, launch),
        programs: programs(cx, launch, manifest),
        allow: patterns(cx, launch),
    }
}

fn gpus(cx: &mut Context<'_>, launch: &Section<'_>, replicas: Option<&Given<u32>>) -> Option<Gpus> {
    let node = launch.node("gpus")?;
    let index = |n: &Node| match n.value {
        Value::Integer(i) => u32::try_from(i).ok().filter(|i| *i < 1024),
        _ => None,
    };
    let gpus = match &node.value {
        Value::List(items) => {
            let mut seen = BTreeSet::new();
            for item in items {
                match index(item) {
                    Some(i) if seen.insert(i) => {}
                    Some(i) => cx.push(Draft::error(format!("device {i} is named twice")).at(&item.at, "again")),
                    None => {
                        let draft = Draft::error("this is no index of a device").at(&item.at, "here");
                        cx.push(draft.help("write whole numbers from 0, as the vendor's tools count"));
                    }
                }
            }
            Gpus::Indices(items.iter().filter_map(index).collect())
        }
        _ => match index(node) {
            Some(n) => Gpus::Count(n),
            None => {
                let draft = Draft::error("`gpus` is out of range").at(&node.at, "here");
                cx.push(draft.help("write how many (`2`), or which (`[0, 1]`)"));
                return None;
            }
        },
    };
    let count = match &gpus {
        Gpus::Count(n) => *n,
        Gpus::Indices(all) => all.len() as u32,
    };
    if let Some(r) = replicas.filter(|r| count % r.value != 0) {
        let draft = Draft::error(format!("{count} devices can't be shared out evenly among {} replicas", r.value));
        cx.push(
            draft.at(&node.at, "of all replicas together").at(&r.at, "replicas").help("give a multiple of `replicas`"),
        );
    }
    Some(gpus)
}

fn programs(
    cx: &mut Context<'_>,
    launch: &Section<'_>,
    manifest: Option<&EngineManifest>,
) -> BTreeMap<String, PlanPath> {
    let mut programs = BTreeMap::new();
    let Some(Value::Table(table)) = launch.node("programs").map(|n| &n.value) else { return programs };
    for (name, entry) in table {
        let Value::Text(written) = &entry.node.value else {
            cx.push(wrong_type(name, &crate::keys::Kind::Path, &entry.node.value).at(&entry.node.at, "here"));
            continue;
        };
        let known: Vec<&str> = manifest.into_iter().flat_map(|m| &m.programs).map(|p| p.name.as_str()).collect();
        if manifest.is_some() && !known.contains(&name.as_str()) {
            let draft =
                Draft::error(format!("the adapter has no program `{name}`")).at(&entry.key_at, "unknown program");
            cx.push(draft.help(suggestion(name, "programs", &known)));
            continue;
        }
        let path = if written.contains('/') { cx.base_dir.join(written) } else { written.into() };
        programs.insert(name.clone(), PlanPath { written: written.clone(), path });
    }
    programs
}

fn patterns(cx: &mut Context<'_>, launch: &Section<'_>) -> Vec<Vec<String>> {
    let Some(Value::List(items)) = launch.node("allow").map(|n| &n.value) else { return Vec::new() };
    let mut patterns = Vec::new();
    for item in items {
        let words = match &item.value {
            Value::List(words) => words
                .iter()
                .map(|w| if let Value::Text(t) = &w.value { Some(t.clone()) } else { None })
                .collect::<Option<Vec<String>>>(),
            _ => None,
        };
        match words {
            Some(words) if !words.is_empty() => patterns.push(words),
            _ => {
                let draft = Draft::error("this is no command").at(&item.at, "here");
                cx.push(draft.help(
                    "write a list of arguments, the program first: `[\"python3\", \"-m\", \"my.engine\", \"**\"]`",
                ));
            }
        }
    }
    patterns
}

fn env(cx: &mut Context<'_>, launch: &Section<'_>) -> BTreeMap<String, EnvValue> {
    let mut all = BTreeMap::new();
    let Some(Value::Table(table)) = launch.node("env").map(|n| &n.value) else { return all };
    for (name, entry) in table {
        if !is_variable(name) {
            let draft = Draft::error(format!("`{name}` is no name of an environment variable"));
            cx.push(draft.at(&entry.key_at, "here").help("letters, digits and `_`, no digit first"));
        }
        let Some(value) = secretive(cx, name, &entry.node) else { continue };
        let secret = ["TOKEN", "KEY", "SECRET", "PASSWORD"].iter().any(|end| name.to_uppercase().ends_with(end));
        if secret && matches!(value, EnvValue::Text(_)) {
            let draft = Draft::warning(format!("`{name}` looks like a secret, and will stand in the trace"));
            let help = format!("take it from the environment: `{name} = {{ env = \"{name}\" }}`");
            cx.push(draft.at(&entry.node.at, "in plain text").help(help));
        }
        all.insert(name.clone(), value);
    }
    all
}

/// A text, or `{ env = "NAME" }`.
fn secretive(cx: &mut Context<'_>, name: &str, node: &Node) -> Option<EnvValue> {
    match &node.value {
        Value::Text(t) => return Some(EnvValue::Text(t.clone())),
        Value::Table(t) => {
            if let (1, Some(Value::Text(variable))) = (t.len(), t.get("env").map(|e| &e.node.value))
                && is_variable(variable)
            {
                return Some(EnvValue::Secret(variable.clone()));
            }
        }
        _ => {}
    }
    let draft = Draft::error(format!("`{name}` is neither a string nor the name of a variable"));
    cx.push(draft.at(&node.at, "here").help(format!("write `{name} = \"...\"` or `{name} = {{ env = \"NAME\" }}`")));
    None
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn attach_plan(cx: &mut Context<'_>, attach: &Section<'_>) -> AttachPlan {
    let given = attach.texts("urls");
    if attach.node("urls").is_some() && given.is_empty() {
        let at = attach.place("urls").unwrap_or(&attach.at);
        let draft = Draft::error("`urls` is empty").at(at, "here");
        cx.push(draft.help("write for example: urls = [\"http://127.0.0.1:8000\"]"));
    }
    let mut urls: Vec<String> = Vec::new();
    for url in &given {
        match server_root(&url.value) {
            Ok(root) if urls.contains(&root) => {
                let draft = Draft::error(format!("server `{root}` is named twice")).at(&url.at, "again");
                cx.push(draft.help("name each server once; requests go to them in turn"));
            }
            Ok(root) => urls.push(root),
            Err(why) => {
                let draft = Draft::error(format!("`{}` is no root of a server: {why}", url.value)).at(&url.at, "here");
                cx.push(draft.help("write for example: \"http://127.0.0.1:8000\""));
            }
        }
    }
    let key = attach.text("api-key-env");
    if let Some(key) = key.as_ref().filter(|k| !is_variable(&k.value)) {
        let draft = Draft::error("`api-key-env` is no name of an environment variable").at(&key.at, "here");
        cx.push(draft.help("name the variable that holds the key, not the key: `api-key-env = \"OPENAI_API_KEY\"`"));
    }
    AttachPlan { urls, api_key_env: key.map(|k| k.value), headers: headers(cx, attach) }
}

/// The root without `/v1` and without a trailing slash.
fn server_root(url: &str) -> Result<String, &'static str> {
    let (scheme, rest) = url.split_once("://").ok_or("it does not begin with `http://` or `https://`")?;
    if scheme != "http" && scheme != "https" {
        return Err("it does not begin with `http://` or `https://`");
    }
    if rest.contains(['?', '#']) {
        return Err("it has a query");
    }
    if rest.contains(char::is_whitespace) || rest.contains(char::is_control) {
        return Err("it has blanks");
    }
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.contains('@') {
        return Err("it has a password in it; use `api-key-env` or `headers`");
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if host.is_empty() {
        return Err("it has no host");
    }
    if port.is_some_and(|p| !p.parse::<u16>().is_ok_and(|p| p > 0)) {
        return Err("its port is no number from 1 to 65535");
    }
    let root = url.trim_end_matches('/');
    Ok(root.strip_suffix("/v1").unwrap_or(root).trim_end_matches('/').to_owned())
}

fn headers(cx: &mut Context<'_>, attach: &Section<'_>) -> BTreeMap<String, EnvValue> {
    const OURS: [&str; 6] =
        ["host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding"];
    const SECRET: [&str; 5] = ["authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"];
    let mut all = BTreeMap::new();
    let Some(Value::Table(table)) = attach.node("headers").map(|n| &n.value) else { return all };
    for (name, entry) in table {
        let lower = name.to_ascii_lowercase();
        if lower.is_empty() || !lower.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)) {
            cx.push(Draft::error(format!("`{name}` is no name of a header")).at(&entry.key_at, "here"));
            continue;
        }
        if OURS.contains(&lower.as_str()) {
            let draft = Draft::error(format!("header `{name}` is set by the client")).at(&entry.key_at, "here");
            cx.push(draft.help("leave it out"));
            continue;
        }
        let Some(value) = secretive(cx, name, &entry.node) else { continue };
        match &value {
            EnvValue::Text(_) if SECRET.contains(&lower.as_str()) => {
                let draft = Draft::error(format!("header `{name}` is a secret, and would stand in the trace"));
                let help = format!("use `api-key-env`, or `{name} = {{ env = \"NAME\" }}`");
                cx.push(draft.at(&entry.node.at, "in plain text").help(help));
            }
            EnvValue::Text(t) if t.contains(char::is_control) => {
                cx.push(Draft::error(format!("header `{name}` has control characters")).at(&entry.node.at, "here"));
            }
            _ => {}
        }
        all.insert(lower, value);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::server_root;

    #[test]
    fn roots() {
        for (url, root) in [
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
            ("http://127.0.0.1:8000/", "http://127.0.0.1:8000"),
            ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000"),
            ("https://api.example.com/v1/", "https://api.example.com"),
            ("https://example.com/proxy/v1", "https://example.com/proxy"),
            ("http://[::1]:8000", "http://[::1]:8000"),
            ("http://[::1]", "http://[::1]"),
        ] {
            assert_eq!(server_root(url).as_deref(), Ok(root));
        }
        for url in [
            "127.0.0.1:8000",
            "ftp://a",
            "http://",
            "http://a:0",
            "http://a:x",
            "http://u:p@a",
            "http://a/?k=1",
            "http://a b",
        ] {
            assert!(server_root(url).is_err(), "{url}");
        }
    }
}
