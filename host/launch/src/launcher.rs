//! Launches a replica: everything that its plan starts, in order, until it can take requests.

use crate::error::LaunchError;
use crate::grant;
use crate::identity::{self, Identity};
use crate::options::{HttpGet, LaunchOptions, Progress};
use crate::port;
use crate::process::{ExitInfo, Process, Start, find_program};
use crate::ready::{self, Wait};
use crate::shell::shell_line;
use crate::stop::{self, StopReport};
use bench_core::clock::{Clock, MonotonicClock, Nanos};
use bench_core::launch::{
    Device, EnvValue, LaunchPlan, ProcessPlan, ReadyCheck, ReadyProbe, ServerInfo, StopRule, StopSignal, Vendor,
    VersionProbe,
};
use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a program has to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(60);

/// All that a launch needs.
pub struct Launcher<'a> {
    /// What to start.
    pub plan: &'a LaunchPlan,
    /// What to ask the server once it is up.
    pub server: &'a ServerInfo,
    /// Name of the model that it must serve.
    pub served_as: &'a str,
    /// How.
    pub options: &'a LaunchOptions<'a>,
    /// For readiness and identity.
    pub http: &'a dyn HttpGet,
    /// Set it from elsewhere to end the wait.
    pub cancel: &'a AtomicBool,
}

/// A launched replica. Dropping it kills what still runs; [`Replica::stop`] ends it properly.
pub struct Replica {
    processes: Vec<Process>,
    serving: usize,
    url: String,
    identity: Identity,
    startup: Nanos,
}

/// A process of the plan with everything about it settled.
struct Ready<'a> {
    plan: &'a ProcessPlan,
    program: PathBuf,
    args: Vec<String>,
    env: Vec<(String, String)>,
    line: String,
    addr: Option<SocketAddr>,
}

impl Launcher<'_> {
    /// Starts every process of the plan, waits until each is ready, and sees that the server is the one started and
    /// serves the model asked for. Blocks; call it from a thread that may.
    ///
    /// # Errors
    /// See [`LaunchError`]. What was started is stopped before it comes back.
    pub fn launch(&self, observe: &mut dyn FnMut(Progress<'_>)) -> Result<Replica, LaunchError> {
        let settled = self.settle()?;
        let version = self.command_version(&settled);
        let clock = MonotonicClock::start();
        let mut processes = Vec::new();
        if let Err(error) = self.start_all(&settled, &mut processes, observe) {
            stop_all(&mut processes, &AtomicBool::new(false));
            return Err(error);
        }
        let startup = clock.now();
        let serving = self.plan.serving as usize;
        let url = self.root(self.plan.processes[serving].port);
        match self.identify(&url, version) {
            Ok(identity) => Ok(Replica { processes, serving, url, identity, startup }),
            Err(error) => {
                stop_all(&mut processes, &AtomicBool::new(false));
                Err(error)
            }
        }
    }

    /// The commands that a launch would run, quoted for a shell, after the checks of the grants.
    ///
    /// # Errors
    /// As [`Launcher::launch`], for what can be known before anything runs.
    pub fn commands(&self) -> Result<Vec<String>, LaunchError> {
        Ok(self.settle()?.into_iter().map(|process| process.line).collect())
    }

    /// Checks the whole plan before anything of it is started.
    fn settle(&self) -> Result<Vec<Ready<'_>>, LaunchError> {
        let options = self.options;
        grant::check_plan(self.plan, &options.env_allowed, &options.secrets_allowed)?;
        let path = options.base_env.get("PATH").map_or("", String::as_str);
        let mut settled = Vec::new();
        for (place, plan) in self.plan.processes.iter().enumerate() {
            let bound = options.programs.get(&plan.program).ok_or_else(|| LaunchError::NotBound {
                program: plan.program.clone(),
                bound: options.programs.keys().cloned().collect(),
            })?;
            let args: Vec<String> =
                self.plan.args(place, &options.extra_args).chain(&plan.bind_args).cloned().collect();
            grant::check_command(&plan.program, &args, &options.grants)?;
            let unknown = LaunchError::io(format!("find the address of `{}`", options.host));
            let addr = match plan.port {
                0 => None,
                port => Some(port::reach(&options.host, port).map_err(unknown)?),
            };
            let program = find_program(&plan.program, bound, path)?;
            let line = shell_line(&plan.program, &args);
            settled.push(Ready { plan, program, args, env: self.environment(plan)?, line, addr });
        }
        Ok(settled)
    }

    fn environment(&self, plan: &ProcessPlan) -> Result<Vec<(String, String)>, LaunchError> {
        let mut env = self.options.base_env.clone();
        for (name, value) in &plan.env {
            let value = match value {
                EnvValue::Text(text) => text.clone(),
                EnvValue::Secret(secret) => (self.options.secrets)(secret)
                    .ok_or_else(|| LaunchError::NoSecret { process: plan.name.clone(), secret: secret.clone() })?,
            };
            env.insert(name.clone(), value);
        }
        let devices = plan.devices.iter().map(|place| {
            self.options.devices.get(*place as usize).ok_or_else(|| LaunchError::BadPlan {
                process: plan.name.clone(),
                what: format!("it uses device {place} of {}", self.options.devices.len()),
            })
        });
        env.extend(visibility(&devices.collect::<Result<Vec<_>, _>>()?));
        env.extend(self.options.env.clone());
        Ok(env.into_iter().collect())
    }

    fn start_all(
        &self,
        settled: &[Ready<'_>],
        processes: &mut Vec<Process>,
        observe: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), LaunchError> {
        make_folder(&self.options.folder)?;
        for ready in settled {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(LaunchError::Cancelled);
            }
            self.start_one(ready, processes, observe)?;
        }
        Ok(())
    }

    fn start_one(
        &self,
        ready: &Ready<'_>,
        processes: &mut Vec<Process>,
        observe: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), LaunchError> {
        let plan = ready.plan;
        for (path, contents) in &plan.files {
            write_file(&self.options.folder.join(path), contents)?;
        }
        if let Some(addr) = ready.addr
            && let Some(owner) = port::owner(addr)
        {
            return Err(LaunchError::PortTaken { process: plan.name.clone(), port: plan.port, owner });
        }
        processes.push(Process::start(Start {
            name: &plan.name,
            program: &ready.program,
            args: &ready.args,
            env: ready.env.clone(),
            folder: &self.options.folder,
            addr: ready.addr,
            stop: plan.stop,
            stays: plan.ready.check != ReadyCheck::Exit,
        })?);
        let Some(process) = processes.last_mut() else { return Ok(()) };
        let (name, line) = (plan.name.as_str(), ready.line.as_str());
        observe(Progress::Started { process: name, line, pid: process.pid() });
        let timeout = Duration::from_millis(u64::from(plan.ready.timeout_ms));
        let wait = Wait {
            probe: &plan.ready,
            url: self.root(plan.port),
            timeout: self.options.ready_timeout.unwrap_or(timeout),
            http: self.http,
            cancel: self.cancel,
        };
        let elapsed = ready::wait(process, &wait, observe)?;
        if let Some(addr) = ready.addr.filter(|_| matches!(plan.ready.check, ReadyCheck::Http(_) | ReadyCheck::Tcp))
            && let Some(owner) = port::stranger(addr, &process.family())
        {
            return Err(LaunchError::Impostor { process: plan.name.clone(), port: plan.port, owner });
        }
        observe(Progress::Ready { process: name, elapsed });
        Ok(())
    }

    fn identify(&self, url: &str, version: Option<String>) -> Result<Identity, LaunchError> {
        let model = match &self.server.models {
            Some(list) => Some(identity::choose(identity::models(self.http, url, list)?, self.served_as, url)?),
            None => None,
        };
        let version = match &self.server.version {
            VersionProbe::Http { path, pointer } => identity::version(self.http, url, path, pointer),
            VersionProbe::Command(_) | VersionProbe::None => version,
        };
        Ok(Identity { model, version })
    }

    /// What the serving program says its version is, where that is the way to learn it. A program that does not say is
    /// no reason not to launch it.
    fn command_version(&self, settled: &[Ready<'_>]) -> Option<String> {
        let VersionProbe::Command(args) = &self.server.version else { return None };
        let ready = settled.get(self.plan.serving as usize)?;
        grant::check_command(&ready.plan.program, args, &self.options.grants).ok()?;
        make_folder(&self.options.folder).ok()?;
        let mut process = Process::start(Start {
            name: "version",
            program: &ready.program,
            args,
            env: ready.env.clone(),
            folder: &self.options.folder,
            addr: None,
            stop: StopRule { signal: StopSignal::Kill, grace_ms: 0 },
            stays: false,
        })
        .ok()?;
        let probe = ReadyProbe { check: ReadyCheck::Exit, interval_ms: 1000, timeout_ms: 0, fatal_log: Vec::new() };
        let wait =
            Wait { probe: &probe, url: String::new(), timeout: VERSION_TIMEOUT, http: self.http, cancel: self.cancel };
        // Programs that print a version may still end with another status.
        let _ = ready::wait(&mut process, &wait, &mut |_| {});
        let said = process.log.last().join("\n");
        identity::dotted_number(&said).map(str::to_owned)
    }

    fn root(&self, port: u16) -> String {
        match port::reach(&self.options.host, port) {
            Ok(addr) => format!("http://{addr}"),
            // `settle` found the address of every port that is used.
            Err(_) => format!("http://{}:{port}", self.options.host),
        }
    }
}

impl Replica {
    /// Root of the server that takes the load, without `/v1`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What the server says it is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// From the start of the first process to readiness of the last.
    pub fn startup(&self) -> Nanos {
        self.startup
    }

    /// Names and numbers of the processes started.
    pub fn pids(&self) -> Vec<(&str, u32)> {
        self.processes.iter().map(|process| (process.name.as_str(), process.pid())).collect()
    }

    /// Number of the process that takes the load.
    pub fn serving_pid(&self) -> u32 {
        self.processes[self.serving].pid()
    }

    /// Numbers of every process that runs for the replica now, children of its processes included.
    pub fn family(&self) -> Vec<i32> {
        let mut pids: Vec<i32> =
            self.processes.iter().flat_map(|process| process.family()).map(|member| member.pid).collect();
        pids.sort_unstable();
        pids.dedup();
        pids
    }

    /// The first process that ended although nobody stopped it, by name. Steps that were to end don't count.
    pub fn poll(&mut self) -> Option<(String, ExitInfo)> {
        self.processes.iter_mut().filter(|process| process.stays).find_map(|process| {
            let exit = process.poll()?;
            Some((process.name.clone(), exit))
        })
    }

    /// The last lines of a process's log, as far as they are written.
    pub fn log_tail(&mut self, process: &str) -> Vec<String> {
        let Some(found) = self.processes.iter_mut().find(|p| p.name == process) else { return Vec::new() };
        // A log that can't be read any more has no more lines.
        let _ = found.log.look(false, |_| {});
        found.log.last()
    }

    /// Stops every process, the last one first: signal to its group, its grace, SIGKILL; waits until no process is
    /// left and the port is free.
    pub fn stop(mut self) -> StopReport {
        stop_all(&mut self.processes, &AtomicBool::new(false))
    }

    /// As [`Replica::stop`], but from the moment that `cut` is set nothing is given any more grace.
    pub fn stop_until(mut self, cut: &AtomicBool) -> StopReport {
        stop_all(&mut self.processes, cut)
    }
}

fn stop_all(processes: &mut Vec<Process>, cut: &AtomicBool) -> StopReport {
    let mut report = StopReport::default();
    while let Some(mut process) = processes.pop() {
        report.processes.push(stop::stop(&mut process, cut));
    }
    report
}

/// Variables by which vendors' libraries show only some devices.
fn visibility(devices: &[&Device]) -> BTreeMap<String, String> {
    let mut env: BTreeMap<String, String> = BTreeMap::new();
    for device in devices {
        let name = match device.vendor {
            Vendor::Nvidia => "CUDA_VISIBLE_DEVICES",
            Vendor::Amd => "HIP_VISIBLE_DEVICES",
            Vendor::Intel => "ZE_AFFINITY_MASK",
            Vendor::Apple | Vendor::Other => continue,
        };
        let list = env.entry(name.to_owned()).or_default();
        if !list.is_empty() {
            list.push(',');
        }
        list.push_str(&device.index.to_string());
    }
    if env.contains_key("CUDA_VISIBLE_DEVICES") {
        // Else the library counts by speed, and not as the vendor's tools do.
        env.insert("CUDA_DEVICE_ORDER".into(), "PCI_BUS_ID".into());
    }
    env
}

fn make_folder(path: &Path) -> Result<(), LaunchError> {
    fs::create_dir_all(path).map_err(LaunchError::io(format!("make the folder `{}`", path.display())))
}

fn write_file(path: &Path, contents: &[u8]) -> Result<(), LaunchError> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    fs::write(path, contents).map_err(LaunchError::io(format!("write `{}`", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: u32, vendor: Vendor) -> Device {
        Device { index, uuid: None, vendor, name: "x".into(), memory_bytes: None }
    }

    #[test]
    fn devices_are_named_as_the_vendor_counts() {
        let (a, b, c) = (device(3, Vendor::Nvidia), device(1, Vendor::Nvidia), device(0, Vendor::Amd));
        let env = visibility(&[&a, &b]);
        assert_eq!(env["CUDA_VISIBLE_DEVICES"], "3,1");
        assert_eq!(env["CUDA_DEVICE_ORDER"], "PCI_BUS_ID");
        assert_eq!(visibility(&[&c]), BTreeMap::from([("HIP_VISIBLE_DEVICES".into(), "0".into())]));
        assert!(visibility(&[]).is_empty());
    }
}
