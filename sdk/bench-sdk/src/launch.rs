//! What launch plans have in common.

use crate::engine::{
    Check, LaunchRequest, Meaning, MetricsEndpoint, MetricsFormat, Plan, Probe, Process, Series, Signal, StopRule,
};
use crate::{Diagnostic, Error, Settings};

/// Half an hour: large models are read, split and compiled before they answer.
pub const LONG_START_MS: u32 = 30 * 60 * 1000;

impl Plan {
    /// One process that takes the load.
    pub fn single(process: Process, facts: Vec<(String, String)>) -> Plan {
        Plan { processes: vec![process], serving: 0, facts }
    }
}

impl Process {
    /// A server on the replica's first port that sees all its devices.
    ///
    /// # Errors
    /// The host set no port aside: a fault of its own.
    pub fn server(
        launch: &LaunchRequest,
        program: &str,
        args: Vec<String>,
        ready: Probe,
        stop: StopRule,
    ) -> Result<Process, Error> {
        let Some(&port) = launch.ports.first() else {
            return Err(Error::internal("no port was set aside for the server"));
        };
        Ok(Process {
            name: "server".to_owned(),
            program: program.to_owned(),
            args,
            bind_args: ["--host", &launch.host, "--port", &port.to_string()].map(str::to_owned).to_vec(),
            env: Vec::new(),
            files: Vec::new(),
            devices: (0..).take(launch.devices.len()).collect(),
            port,
            ready,
            stop,
        })
    }
}

impl Probe {
    /// Ready once a GET of `path` answers 2xx.
    pub fn http(path: &str, interval_ms: u32, timeout_ms: u32, fatal_log: &[&str]) -> Probe {
        Probe {
            check: Check::Http(path.to_owned()),
            interval_ms,
            timeout_ms,
            fatal_log: fatal_log.iter().map(|&line| line.to_owned()).collect(),
        }
    }
}

impl StopRule {
    /// SIGTERM, and the whole group is killed after `grace_ms`.
    pub fn terminate(grace_ms: u32) -> StopRule {
        StopRule { signal: Signal::Terminate, grace_ms }
    }
}

impl MetricsEndpoint {
    /// Prometheus text at `path`, with what these names mean. Units are the neutral ones.
    pub fn prometheus(path: &str, series: &[(Meaning, &str)]) -> MetricsEndpoint {
        let series = series.iter().map(|&(meaning, name)| Series { meaning, name: name.to_owned(), scale: 1.0 });
        MetricsEndpoint { path: path.to_owned(), format: MetricsFormat::Prometheus, series: series.collect() }
    }
}

/// `--served-model-name NAME` where the name differs from what the engine would take by itself: the
/// location that it loads.
pub fn served_name_args(launch: &LaunchRequest, flag: &str) -> Vec<String> {
    if launch.model.served_as == launch.model.location {
        return Vec::new();
    }
    vec![flag.to_owned(), launch.model.served_as.clone()]
}

/// Says whether the devices of a replica suffice. `key` is the setting that asks for most of them;
/// nothing is said where the host set no devices aside.
pub fn check_devices(launch: &LaunchRequest, needed: u64, key: &str) -> Option<Diagnostic> {
    let there = launch.devices.len() as u64;
    if there == 0 || needed == there {
        return None;
    }
    if needed > there {
        let help = "lower the parallel sizes, or give each replica more devices under `[engine.launch]`";
        return Some(
            Diagnostic::error(format!("the parallel sizes need {needed} devices, a replica has {there}"))
                .key(key)
                .help(help),
        );
    }
    let idle = there - needed;
    let help = "raise the parallel sizes, or set `replicas` under `[engine.launch]` so that each has what it uses";
    Some(Diagnostic::warning(format!("{idle} of {there} devices of a replica stay idle")).key(key).help(help))
}

/// Facts of the result file out of sizes that count as 1 where they are absent: pairs of the fact's name
/// and the setting's key.
pub fn size_facts(settings: &Settings, sizes: &[(&str, &str)]) -> Vec<(String, String)> {
    let fact = |&(name, key): &(&str, &str)| (name.to_owned(), settings.unsigned(key).unwrap_or(1).to_string());
    sizes.iter().map(fact).collect()
}

/// The product of sizes that count as 1 where they are absent: the devices that they take together.
pub fn product(settings: &Settings, keys: &[&str]) -> u64 {
    keys.iter().map(|key| settings.unsigned(key).unwrap_or(1)).product()
}
