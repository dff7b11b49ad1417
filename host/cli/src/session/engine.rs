//! The engine of a run: launched by us, or attached to.

use crate::catalog::{self, Loaded};
use crate::diagnostics::Failure;
use crate::engine_plan::{self, ReplicaPlan};
use crate::exit::Exit;
use crate::progress::Progress;
use crate::signals::Interrupts;
use crate::terminal::Terminal;
use bench_core::adapter::AdapterDiagnostic;
use bench_core::clock::Nanos;
use bench_core::launch::{EnvValue, ServerInfo};
use bench_launch::{Grant, HttpGet, Identity, LaunchError, LaunchOptions, Launcher, Replica, StopReport, free_ports};
use bench_load::Target;
use bench_plugin::EngineAdapter;
use bench_trace::{EngineRun, LaunchedProcess, RunDir};
use bench_workload::{AttachPlan, EnginePlan, EngineTarget, LaunchSettings};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Variables by which the user shows this program only some devices. They hold for the engine too, unless the workload
/// names its devices.
const VISIBLE_DEVICES: [&str; 4] =
    ["CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"];
/// Variables of our environment that every engine gets: what programs need to find themselves, their libraries and
/// their caches. Everything else is the workload's to name.
const BASE_ENV: [&str; 18] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
    "CUDA_HOME",
    "CUDA_PATH",
    "HF_HOME",
    "HF_HUB_CACHE",
    "HF_HUB_OFFLINE",
    "XDG_CACHE_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// GETs of documents of the server, over the load client's own connections.
struct Http {
    headers: Vec<(String, String)>,
}

impl HttpGet for Http {
    fn get(&self, url: &str, timeout: Duration) -> Result<(u16, Vec<u8>), String> {
        bench_load::http::get(url, &self.headers, timeout)
            .map(|answer| (answer.status, answer.body))
            .map_err(|e| e.to_string())
    }
}

/// How long a document of the engine's own metrics may take.
const METRICS_TIMEOUT: Duration = Duration::from_secs(10);

/// An engine that is up.
pub(super) struct Engine {
    replicas: Vec<Replica>,
    metrics: Vec<String>,
    /// Where requests go.
    pub(super) targets: Vec<Target>,
    /// What is known of it.
    pub(super) run: EngineRun,
}

/// What bringing up an engine needs.
pub(super) struct Bringing<'a> {
    pub(super) adapter: &'a Loaded<EngineAdapter>,
    pub(super) plan: &'a EnginePlan,
    pub(super) dir: &'a Path,
    pub(super) interrupts: &'a Interrupts,
    pub(super) terminal: Terminal,
    pub(super) quiet: bool,
}

impl Bringing<'_> {
    /// Launches the engine, or attaches to it.
    ///
    /// # Errors
    /// It does not come up, or is not the one asked for. What was started is stopped by then.
    pub(super) fn up(&self) -> Result<Engine, Failure> {
        let server = self
            .adapter
            .adapter
            .server(&self.plan.settings)
            .map_err(|e| catalog::failure("failed to ask the adapter about its server", &e))?;
        match &self.plan.target {
            EngineTarget::Attach(attach) => self.attach(attach, &server),
            EngineTarget::Launch(launch) => self.launch(launch, &server),
        }
    }

    fn described(&self, attached: bool) -> EngineRun {
        EngineRun {
            adapter: self.plan.adapter.id.clone(),
            model: self.plan.model.name.clone(),
            attached,
            ..EngineRun::default()
        }
    }

    fn attach(&self, attach: &AttachPlan, server: &ServerInfo) -> Result<Engine, Failure> {
        let headers = headers(attach)?;
        let http = Http { headers: headers.clone() };
        let mut run = self.described(true);
        let mut targets = Vec::new();
        for url in &attach.urls {
            let attached = bench_launch::attach(url, server, &self.plan.model.served_as, &http)
                .map_err(|e| launch_failure(&format!("failed to attach to `{url}`"), &e))?;
            note_identity(&mut run, &attached.identity);
            run.urls.push(attached.url.clone());
            targets.push(Target { url: attached.url, headers: headers.clone() });
        }
        Ok(Engine { replicas: Vec::new(), metrics: paths(server), targets, run })
    }

    fn launch(&self, launch: &LaunchSettings, server: &ServerInfo) -> Result<Engine, Failure> {
        let mut engine =
            Engine { replicas: Vec::new(), metrics: paths(server), targets: Vec::new(), run: self.described(false) };
        let cancel = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&cancel);
        let _listening = self.interrupts.during(move |_| told.store(true, Ordering::SeqCst));
        let _progress = Progress::waiting(self.terminal, self.quiet, &format!("launching {}", self.plan.adapter.id));
        for number in 0..launch.replicas {
            // Absolute, since the engine starts in it.
            let folder = self.dir.join(format!("replica-{number}"));
            let folder = std::path::absolute(&folder).unwrap_or(folder);
            let ports = self.ports(launch, number)?;
            let replica =
                engine_plan::replica(self.adapter, self.plan, launch, number, ports, &folder.display().to_string())?;
            self.tell(&replica.said);
            let options = self.options(launch, &replica, folder)?;
            let launcher = Launcher {
                plan: &replica.plan,
                server,
                served_as: &self.plan.model.served_as,
                options: &options,
                http: &Http { headers: Vec::new() },
                cancel: &cancel,
            };
            let up = launcher.launch(&mut |_| ()).map_err(|e| match e {
                LaunchError::Cancelled => Failure::new(Exit::Interrupted, "interrupted while the engine was launched"),
                e => launch_failure(&format!("failed to launch `{}`", self.plan.adapter.id), &e),
            })?;
            engine.add(launch, number, &replica, up);
        }
        Ok(engine)
    }

    fn tell(&self, said: &[AdapterDiagnostic]) {
        for d in said {
            self.terminal.say(&remark(d));
        }
    }

    fn ports(&self, launch: &LaunchSettings, replica: u32) -> Result<Vec<u16>, Failure> {
        let count = engine_plan::ports_needed(self.adapter, self.plan)?;
        match launch.port {
            Some(first) => engine_plan::fixed_ports(first, replica, count),
            None => free_ports(&launch.host, count as usize).map_err(|e| {
                Failure::new(Exit::Launch, format!("found no free port on `{}`", launch.host)).because(&e)
            }),
        }
    }

    fn options<'o>(
        &self,
        launch: &LaunchSettings,
        replica: &ReplicaPlan,
        folder: PathBuf,
    ) -> Result<LaunchOptions<'o>, Failure> {
        let manifest = self.adapter.adapter.manifest();
        let mut programs: BTreeMap<String, PathBuf> =
            manifest.programs.iter().map(|p| (p.name.clone(), PathBuf::from(&p.name))).collect();
        // The simulated engine is this program.
        if let Some(own) = programs.get_mut("bench-host") {
            *own = std::env::current_exe()
                .map_err(|e| Failure::internal("failed to find this program's own file").because(&e))?;
        }
        for (name, path) in &launch.programs {
            let bound = if path.written.contains('/') { path.path.clone() } else { PathBuf::from(&path.written) };
            programs.insert(name.clone(), bound);
        }
        Ok(LaunchOptions {
            programs,
            grants: self.grants(launch)?,
            env_allowed: manifest.env.clone(),
            secrets_allowed: manifest.secrets.clone(),
            base_env: BASE_ENV
                .iter()
                .chain(VISIBLE_DEVICES.iter().filter(|_| launch.gpus.is_none()))
                .filter_map(|k| Some(((*k).to_owned(), std::env::var(k).ok()?)))
                .collect(),
            env: resolve_env(&launch.env)?,
            extra_args: launch.extra_args.clone(),
            secrets: &|name| std::env::var(name).ok(),
            folder,
            host: launch.host.clone(),
            ready_timeout: launch.ready_timeout.map(Nanos::to_duration),
            devices: replica.request.devices.clone(),
        })
    }

    /// A bundled adapter may start its programs; any other only what the user allows.
    fn grants(&self, launch: &LaunchSettings) -> Result<Vec<Grant>, Failure> {
        if self.adapter.bundled {
            return Ok(Vec::new());
        }
        if launch.allow.is_empty() {
            return Err(Failure::input(format!(
                "adapter `{}` is not bundled, and `engine.launch.allow` grants it no command",
                self.plan.adapter.written
            ))
            .help("see what it starts with `bench-host plan`, then add `allow = [[\"PROGRAM\", \"**\"]]`"));
        }
        let grants = launch.allow.iter().filter_map(|pattern| {
            let (program, args) = pattern.split_first()?;
            Some(Grant { program: program.clone(), args: args.to_vec() })
        });
        Ok(grants.collect())
    }
}

impl Engine {
    fn add(&mut self, launch: &LaunchSettings, number: u32, planned: &ReplicaPlan, up: Replica) {
        let run = &mut self.run;
        note_identity(run, up.identity());
        run.urls.push(up.url().to_owned());
        if run.facts.is_empty() {
            run.facts.clone_from(&planned.plan.facts);
        }
        run.startup = Some(run.startup.map_or(up.startup(), |before| before + up.startup()));
        for (place, process) in planned.plan.processes.iter().enumerate() {
            let args = planned.plan.args(place, &launch.extra_args);
            let command = std::iter::once(&process.program).chain(args).chain(&process.bind_args);
            run.processes.push(LaunchedProcess {
                name: process.name.clone(),
                replica: number,
                command: command.cloned().collect(),
                end: None,
            });
        }
        self.targets.push(Target { url: up.url().to_owned(), headers: Vec::new() });
        self.replicas.push(up);
    }

    /// Keeps the engine's own metrics as they stand at the end, as `metrics-REPLICA.txt` in the run's folder: what the
    /// rows' token counts can be held against. A server that gives none is no fault of the run.
    pub(super) fn keep_metrics(&self, dir: &RunDir) {
        for (number, target) in self.targets.iter().enumerate() {
            let http = Http { headers: target.headers.clone() };
            for (place, path) in self.metrics.iter().enumerate() {
                let name =
                    if place == 0 { format!("metrics-{number}.txt") } else { format!("metrics-{number}-{place}.txt") };
                match http.get(&format!("{}{path}", target.url), METRICS_TIMEOUT) {
                    Ok((200, body)) => {
                        if let Err(e) = dir.write_file(&name, &body) {
                            tracing::warn!(target: "bench", "failed to keep the engine's metrics: {e}");
                        }
                    }
                    Ok((status, _)) => tracing::info!(target: "bench", "`{path}` answers {status}: no metrics"),
                    Err(e) => tracing::info!(target: "bench", "`{path}`: no metrics: {e}"),
                }
            }
        }
    }

    /// The first process that ended although nobody stopped it, in words, with the last lines of its log.
    pub(super) fn died(&mut self) -> Option<String> {
        self.replicas.iter_mut().enumerate().find_map(|(number, replica)| {
            let (process, exit) = replica.poll()?;
            let tail = replica.log_tail(&process).join("\n  | ");
            Some(format!("process `{process}` of replica {number} ended: {exit}; its log ends:\n  | {tail}"))
        })
    }

    /// Stops what was launched, the last replica first, and notes how each process ended. A second interrupt cuts the
    /// processes' grace.
    pub(super) fn stop(mut self, interrupts: &Interrupts) -> (EngineRun, Vec<String>) {
        let mut complaints = Vec::new();
        let cut = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&cut);
        let _listening = interrupts.during(move |n| told.store(n > 1, Ordering::SeqCst));
        for (number, replica) in self.replicas.drain(..).enumerate().rev() {
            let report = replica.stop_until(&cut);
            complaints.extend(complaint(number, &report));
            for end in &report.processes {
                let mut ran = self.run.processes.iter_mut();
                if let Some(process) = ran.find(|p| p.replica as usize == number && p.name == end.process) {
                    process.end = Some(end.exit.as_ref().map_or_else(|| "still runs".to_owned(), ToString::to_string));
                }
            }
        }
        (self.run, complaints)
    }
}

fn complaint(replica: usize, report: &StopReport) -> Option<String> {
    let left: Vec<String> = report
        .processes
        .iter()
        .filter(|end| !end.left.is_empty() || !end.port_free)
        .map(|end| format!("`{}`: processes left {:?}, port free: {}", end.process, end.left, end.port_free))
        .collect();
    (!report.is_clean()).then(|| format!("replica {replica} did not end cleanly: {}", left.join("; ")))
}

/// A line for what an adapter has to say.
pub(crate) fn remark(d: &AdapterDiagnostic) -> String {
    let key = d.key.as_ref().map_or(String::new(), |k| format!("`{k}`: "));
    let help = d.help.as_ref().map_or(String::new(), |h| format!(" ({h})"));
    format!("{}: {key}{}{help}", format!("{:?}", d.severity).to_lowercase(), d.message)
}

fn paths(server: &ServerInfo) -> Vec<String> {
    server.metrics.iter().map(|m| m.path.clone()).collect()
}

fn note_identity(run: &mut EngineRun, identity: &Identity) {
    if let Some(model) = &identity.model {
        if !run.models.contains(&model.id) {
            run.models.push(model.id.clone());
        }
        run.context = run.context.or(model.context);
    }
    if run.version.is_none() {
        run.version.clone_from(&identity.version);
    }
}

fn launch_failure(what: &str, e: &LaunchError) -> Failure {
    Failure::new(Exit::Launch, what).because(e)
}

/// The secrets that a plan uses, which must stand in no file of the run.
///
/// # Errors
/// A variable that the workload names is not set.
pub(super) fn secrets(plan: &EnginePlan) -> Result<Vec<String>, Failure> {
    let (named, key) = match &plan.target {
        EngineTarget::Launch(launch) => (&launch.env, None),
        EngineTarget::Attach(attach) => (&attach.headers, attach.api_key_env.as_ref()),
    };
    let secret = |value: &EnvValue| match value {
        EnvValue::Secret(of) => Some(from_env(of)),
        EnvValue::Text(_) => None,
    };
    named.values().filter_map(secret).chain(key.map(|name| from_env(name))).collect()
}

/// Headers of every request to an attached server. The key comes from the environment and goes nowhere else.
fn headers(attach: &AttachPlan) -> Result<Vec<(String, String)>, Failure> {
    let mut headers: Vec<(String, String)> = resolve_env(&attach.headers)?.into_iter().collect();
    if let Some(name) = &attach.api_key_env {
        headers.push(("authorization".to_owned(), format!("Bearer {}", from_env(name)?)));
    }
    Ok(headers)
}

fn resolve_env(env: &BTreeMap<String, EnvValue>) -> Result<BTreeMap<String, String>, Failure> {
    let resolved = env.iter().map(|(name, value)| {
        let value = match value {
            EnvValue::Text(text) => text.clone(),
            EnvValue::Secret(of) => from_env(of)?,
        };
        Ok((name.clone(), value))
    });
    resolved.collect()
}

fn from_env(name: &str) -> Result<String, Failure> {
    std::env::var(name).map_err(|_| {
        Failure::input(format!("the environment variable `{name}`, which the workload names, is not set"))
            .help(format!("set it: export {name}=..."))
    })
}
