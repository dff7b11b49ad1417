//! Launch plans: nothing may be started that the manifest doesn't name.

use super::exchange::{is_path, is_pointer};
use super::manifest::{is_name, is_showable};
use bench_core::adapter::EngineManifest;
use bench_core::launch::{EnvValue, LaunchPlan, LaunchRequest, ProcessPlan, ReadyCheck, ServerInfo, VersionProbe};
use std::collections::HashSet;
use std::path::{Component, Path};

/// Processes, ports and files of one replica, and bytes of one argument: far more than an engine needs.
const PROCESSES: usize = 64;
const PORTS: u32 = 64;
const FILES: usize = 256;

/// Environment variables that decide what code a process runs, whatever a manifest asks for.
const NEVER_NAMES: [&str; 2] = ["PATH", "IFS"];
const NEVER_PREFIXES: [&str; 4] = ["LD_", "DYLD_", "PYTHON", "BASH_"];

/// Checks a launch plan against the manifest of the adapter and the request.
pub(crate) fn verified_plan(
    plan: LaunchPlan,
    manifest: &EngineManifest,
    request: &LaunchRequest,
) -> Result<LaunchPlan, String> {
    if plan.processes.is_empty() || plan.processes.len() > PROCESSES {
        return Err(format!("the plan has {} processes; 1 to {PROCESSES} can be", plan.processes.len()));
    }
    let Some(serving) = plan.processes.get(plan.serving as usize) else {
        return Err(format!("process {} is to serve, of {}", plan.serving, plan.processes.len()));
    };
    if serving.ready.check == ReadyCheck::Exit {
        return Err(format!("process `{}` is to serve, and is ready only when it has ended", serving.name));
    }
    let mut names = HashSet::new();
    let mut paths = HashSet::new();
    for p in &plan.processes {
        if !is_name(&p.name) || !names.insert(&p.name) {
            return Err(format!(
                "process `{}` is named twice or by more than letters, digits, `-`, `_` and `.`",
                p.name
            ));
        }
        process(p, manifest, request).map_err(|e| format!("process `{}`: {e}", p.name))?;
        for (path, _) in &p.files {
            if !stays_inside(path) {
                return Err(format!("file `{path}` is not inside the replica's folder"));
            }
            if !paths.insert(path) {
                return Err(format!("file `{path}` is written twice"));
            }
        }
    }
    if let Some((k, _)) = plan.facts.iter().find(|(k, v)| !is_showable(k) || !is_showable(v)) {
        return Err(format!("fact `{}` has control characters", k.escape_debug()));
    }
    if paths.len() > FILES {
        return Err(format!("the plan writes {} files; {FILES} can be", paths.len()));
    }
    Ok(plan)
}

fn process(p: &ProcessPlan, manifest: &EngineManifest, request: &LaunchRequest) -> Result<(), String> {
    if !manifest.programs.iter().any(|m| m.name == p.program) {
        return Err(format!("program `{}` is not in the manifest", p.program));
    }
    if let Some(a) = p.args.iter().chain(&p.bind_args).find(|a| !is_showable(a)) {
        return Err(format!("argument `{}` has control characters", a.escape_debug()));
    }
    let mut names = HashSet::new();
    for (name, value) in &p.env {
        variable(name, value, manifest)?;
        if !names.insert(name) {
            return Err(format!("environment variable `{name}` is set twice"));
        }
    }
    if let Some(d) = p.devices.iter().find(|d| **d as usize >= request.devices.len()) {
        return Err(format!("device {d} of {} is to be seen", request.devices.len()));
    }
    if p.ready.check != ReadyCheck::Exit && !request.ports.contains(&p.port) {
        return Err(format!("port {} is none of those set aside", p.port));
    }
    if p.ready.interval_ms == 0 || p.ready.timeout_ms == 0 {
        return Err("readiness has an interval or a timeout of 0".to_owned());
    }
    match &p.ready.check {
        ReadyCheck::Http(path) if !is_path(path) => Err(format!("`{path}` is no path of a URL")),
        ReadyCheck::Log(text) if text.is_empty() => Err("readiness looks for an empty text in the log".to_owned()),
        _ if p.ready.fatal_log.iter().any(String::is_empty) => {
            Err("an empty text in the log is to be fatal".to_owned())
        }
        _ => Ok(()),
    }
}

fn variable(name: &str, value: &EnvValue, manifest: &EngineManifest) -> Result<(), String> {
    if NEVER_NAMES.contains(&name) || NEVER_PREFIXES.iter().any(|p| name.starts_with(p)) {
        return Err(format!("environment variable `{name}` decides what code runs and is never an adapter's to set"));
    }
    let granted = manifest.env.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    });
    if !granted || name.contains(['=', '\0']) {
        return Err(format!("environment variable `{name}` is not in the manifest"));
    }
    match value {
        EnvValue::Text(t) if !is_showable(t) => Err(format!("the value of `{name}` has control characters")),
        EnvValue::Secret(s) if !manifest.secrets.contains(s) => Err(format!("secret `{s}` is not in the manifest")),
        _ => Ok(()),
    }
}

/// A relative path of plain names.
fn stays_inside(path: &str) -> bool {
    !path.is_empty()
        && !path.contains(['\0', '\\'])
        && !path.ends_with('/')
        && Path::new(path).components().all(|c| matches!(c, Component::Normal(_)))
}

/// Checks the number of ports that an adapter asks for.
pub(crate) fn ports_needed(n: u32) -> Result<u32, String> {
    if (1..=PORTS).contains(&n) { Ok(n) } else { Err(format!("{n} ports are needed; 1 to {PORTS} can be")) }
}

/// Checks what an adapter says of a server that is up.
pub(crate) fn server_info(s: ServerInfo) -> Result<ServerInfo, String> {
    let mut paths = vec![&s.ready];
    let mut pointers: Vec<&String> = Vec::new();
    if let Some(m) = &s.models {
        paths.push(&m.path);
        pointers.extend([&m.list, &m.id].into_iter().chain(&m.context));
    }
    if let VersionProbe::Http { path, pointer } = &s.version {
        paths.push(path);
        pointers.push(pointer);
    }
    paths.extend(s.metrics.iter().map(|m| &m.path));
    if let Some(p) = paths.into_iter().find(|p| !is_path(p)) {
        return Err(format!("`{p}` is no path of a URL"));
    }
    if let Some(p) = pointers.into_iter().find(|p| !is_pointer(p)) {
        return Err(format!("`{p}` is no JSON pointer"));
    }
    let mut series = s.metrics.iter().flat_map(|m| &m.series);
    if let Some(m) = series.find(|m| m.name.is_empty() || !m.scale.is_finite()) {
        return Err(format!("series `{}` has no name or no finite scale", m.name));
    }
    Ok(s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_core::adapter::{AdapterInfo, Features, Program};
    use bench_core::launch::{Model, ReadyProbe, StopRule, StopSignal};

    fn manifest() -> EngineManifest {
        let text = |s: &str| s.to_owned();
        EngineManifest {
            info: AdapterInfo {
                id: text("e"),
                name: text("E"),
                version: text("1.0.0"),
                summary: text(""),
                license: text("MIT"),
                homepage: None,
            },
            engine: text("e"),
            engine_versions: text("*"),
            programs: vec![Program { name: text("serve"), doc: text(""), version: VersionProbe::None }],
            launchable: true,
            default_port: None,
            env: vec![text("E_*"), text("HF_HOME"), text("LD_PRELOAD")],
            secrets: vec![text("HF_TOKEN")],
            settings: Vec::new(),
            features: Features::default(),
        }
    }

    fn request() -> LaunchRequest {
        let text = |s: &str| s.to_owned();
        LaunchRequest {
            model: Model { name: text("m"), location: text("m"), revision: None, served_as: text("m") },
            settings: Default::default(),
            replica: 0,
            replicas: 1,
            devices: Vec::new(),
            ports: vec![8000],
            host: text("127.0.0.1"),
            folder: text("/run/0"),
            engine_version: None,
        }
    }

    fn plan(change: impl FnOnce(&mut LaunchPlan)) -> Result<LaunchPlan, String> {
        let mut plan = LaunchPlan {
            processes: vec![ProcessPlan {
                name: "server".into(),
                program: "serve".into(),
                args: vec!["m".into()],
                bind_args: vec!["--port".into(), "8000".into()],
                env: vec![("E_MODE".into(), EnvValue::Text("fast".into()))],
                files: vec![("conf/a.json".into(), b"{}".to_vec())],
                devices: Vec::new(),
                port: 8000,
                ready: ReadyProbe {
                    check: ReadyCheck::Http("/health".into()),
                    interval_ms: 100,
                    timeout_ms: 1000,
                    fatal_log: Vec::new(),
                },
                stop: StopRule { signal: StopSignal::Terminate, grace_ms: 1000 },
            }],
            serving: 0,
            facts: Vec::new(),
        };
        change(&mut plan);
        verified_plan(plan, &manifest(), &request())
    }

    #[test]
    fn an_honest_plan_passes() {
        plan(|_| {}).unwrap();
        plan(|p| p.processes[0].env.push(("HF_HOME".into(), EnvValue::Secret("HF_TOKEN".into())))).unwrap();
    }

    #[test]
    fn a_plan_reaches_nothing_that_was_not_granted() {
        let process = |f: fn(&mut ProcessPlan)| plan(|p| f(&mut p.processes[0])).unwrap_err();
        let env = |name: &str| {
            let name = name.to_owned();
            plan(|p| p.processes[0].env = vec![(name, EnvValue::Text(String::new()))]).unwrap_err()
        };
        assert!(process(|p| p.program = "/bin/sh".into()).contains("program `/bin/sh` is not in the manifest"));
        assert!(env("PATH").contains("never"));
        assert!(env("LD_PRELOAD").contains("never"), "even where the manifest has it");
        assert!(env("PYTHONPATH").contains("never"));
        assert!(env("HF_HOMES").contains("not in the manifest"));
        assert!(env("E_X=Y").contains("not in the manifest"));
        assert!(process(|p| p.port = 22).contains("port 22"));
        assert!(process(|p| p.devices = vec![0]).contains("device 0 of 0"));
        assert!(process(|p| p.args.push("a\0b".into())).contains("control characters"));
        assert!(process(|p| p.env.push(p.env[0].clone())).contains("set twice"));
        let secret = plan(|p| p.processes[0].env = vec![("E_K".into(), EnvValue::Secret("AWS_KEY".into()))]);
        assert!(secret.unwrap_err().contains("secret `AWS_KEY`"));
    }

    #[test]
    fn files_stay_inside_the_folder() {
        for path in ["../x", "/etc/passwd", "a/../../x", "", "a/", "./a/..", "a\\..\\b", "c\0"] {
            let refused = plan(|p| p.processes[0].files = vec![(path.into(), Vec::new())]);
            assert!(refused.unwrap_err().contains("not inside"), "{path:?}");
        }
        let twice = plan(|p| p.processes[0].files = vec![("a".into(), Vec::new()), ("a".into(), Vec::new())]);
        assert!(twice.unwrap_err().contains("twice"));
    }

    #[test]
    fn counts_and_indices_are_checked() {
        assert!(plan(|p| p.serving = 1).is_err());
        assert!(plan(|p| p.processes.clear()).is_err());
        assert!(plan(|p| p.processes.push(p.processes[0].clone())).unwrap_err().contains("named twice"));
        assert!(plan(|p| p.processes[0].ready.check = ReadyCheck::Exit).is_err());
        assert!(ports_needed(0).is_err() && ports_needed(u32::MAX).is_err() && ports_needed(2).is_ok());
    }
}
