//! What every launch test needs.
#![allow(dead_code, clippy::unwrap_used, reason = "helpers of tests, not all used by each")]

use bench_core::launch::{
    LaunchPlan, ModelList, ProcessPlan, ReadyCheck, ReadyProbe, ServerInfo, StopRule, StopSignal, VersionProbe,
};
use bench_launch::{Grant, HttpGet, LaunchError, LaunchOptions, Launcher, Replica, free_ports};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The smallest client that will do.
pub(crate) struct Client;

impl HttpGet for Client {
    fn get(&self, url: &str, timeout: Duration) -> Result<(u16, Vec<u8>), String> {
        let (addr, path) = url.strip_prefix("http://").and_then(|u| u.split_once('/')).ok_or("not a URL")?;
        let mut stream = TcpStream::connect(addr).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(timeout)).map_err(|e| e.to_string())?;
        let request = format!("GET /{path} HTTP/1.1\r\nhost: {addr}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).map_err(|e| e.to_string())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).map_err(|e| e.to_string())?;
        let head = answer.windows(4).position(|w| w == b"\r\n\r\n").ok_or("no end of the head")?;
        let status = String::from_utf8_lossy(&answer[9..12]).parse().map_err(|_| "no status")?;
        Ok((status, answer.split_off(head + 4)))
    }
}

/// A folder, a port and options that a test may change.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) port: u16,
    pub(crate) cancel: AtomicBool,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) extra_args: Vec<String>,
    pub(crate) grants: Vec<Grant>,
    pub(crate) ready_timeout: Option<Duration>,
    pub(crate) server: ServerInfo,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench {
            folder: tempfile::tempdir().unwrap(),
            port: free_ports("127.0.0.1", 1).unwrap()[0],
            cancel: AtomicBool::new(false),
            env: BTreeMap::new(),
            extra_args: Vec::new(),
            grants: Vec::new(),
            ready_timeout: None,
            server: ServerInfo { ready: "/".into(), models: None, version: VersionProbe::None, metrics: Vec::new() },
        }
    }

    /// A plan of one process; a web server is also asked for its models.
    pub(crate) fn plan(&self, process: ProcessPlan) -> LaunchPlan {
        LaunchPlan { processes: vec![process], serving: 0, facts: Vec::new() }
    }

    fn options(&self) -> LaunchOptions<'static> {
        let bound = [("sh", "sh"), ("python3", "python3"), ("absent", "/nowhere/absent")];
        LaunchOptions {
            programs: bound.map(|(name, path)| (name.to_owned(), PathBuf::from(path))).into(),
            grants: self.grants.clone(),
            env_allowed: vec!["SIM_*".into(), "MINE".into()],
            secrets_allowed: vec!["KEY".into(), "OTHER".into()],
            base_env: BTreeMap::from([("PATH".into(), std::env::var("PATH").unwrap())]),
            env: self.env.clone(),
            extra_args: self.extra_args.clone(),
            secrets: &|name| (name == "KEY").then(|| "hush".into()),
            folder: self.folder.path().to_owned(),
            host: "127.0.0.1".into(),
            ready_timeout: self.ready_timeout,
            devices: Vec::new(),
        }
    }

    pub(crate) fn launcher<'a>(&'a self, plan: &'a LaunchPlan) -> Launcher<'a> {
        let web = plan.processes.iter().any(|p| p.program == "python3");
        let server = if web {
            ServerInfo {
                models: Some(ModelList {
                    path: "/v1/models".into(),
                    list: "/data".into(),
                    id: "/id".into(),
                    context: Some("/max_model_len".into()),
                }),
                ..self.server.clone()
            }
        } else {
            self.server.clone()
        };
        // A test makes few launchers, and its process is short.
        let options = Box::leak(Box::new(self.options()));
        let server = Box::leak(Box::new(server));
        Launcher { plan, server, served_as: "m", options, http: &Client, cancel: &self.cancel }
    }

    pub(crate) fn launch(&self, plan: &LaunchPlan) -> Result<Replica, LaunchError> {
        self.launcher(plan).launch(&mut |_| {})
    }

    pub(crate) fn log(&self, process: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(format!("{process}.log"))).unwrap()
    }

    /// Running processes whose working folder is ours: whatever the plan started, wherever it hid.
    pub(crate) fn marked(&self) -> usize {
        let own = self.folder.path().canonicalize().unwrap();
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == own))
            .count()
    }

    pub(crate) fn assert_port_free(&self) {
        assert!(TcpStream::connect(("127.0.0.1", self.port)).is_err());
        assert_eq!(self.marked(), 0);
    }
}

/// A process that runs a script and is ready when it says `up`.
pub(crate) fn shell(script: &str) -> ProcessPlan {
    ProcessPlan {
        name: "server".into(),
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        bind_args: Vec::new(),
        env: Vec::new(),
        files: Vec::new(),
        devices: Vec::new(),
        port: 0,
        ready: ReadyProbe {
            check: ReadyCheck::Log("up".into()),
            interval_ms: 50,
            timeout_ms: 60_000,
            fatal_log: Vec::new(),
        },
        stop: StopRule { signal: StopSignal::Terminate, grace_ms: 300 },
    }
}

/// Python's file server over a folder that holds a list of models.
pub(crate) fn web_server(port: u16, models: &str) -> ProcessPlan {
    let mut process = shell("");
    process.program = "python3".into();
    process.args = ["-m", "http.server"].map(String::from).to_vec();
    process.bind_args = vec!["--bind".into(), "127.0.0.1".into(), port.to_string()];
    process.files = vec![("v1/models".into(), models.as_bytes().to_vec())];
    process.port = port;
    process.ready.check = ReadyCheck::Http("/v1/models".into());
    process.stop.grace_ms = 20_000;
    process
}

pub(crate) fn runs(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z"))
}

/// Looks until it holds; fails after a time that no healthy machine needs.
pub(crate) fn wait_until(mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(30), "it did not come to hold");
        std::thread::yield_now();
    }
}
