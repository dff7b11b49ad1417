//! What the caller brings to a launch.

use crate::grant::Grant;
use bench_core::clock::Nanos;
use bench_core::launch::Device;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Fetches documents of a server. The caller has the HTTP client.
pub trait HttpGet {
    /// GET `url`: status and body. Redirects are not followed.
    ///
    /// # Errors
    /// What kept an answer from coming, for people.
    fn get(&self, url: &str, timeout: Duration) -> Result<(u16, Vec<u8>), String>;
}

/// How one replica is launched. Nothing is taken from this process's environment.
pub struct LaunchOptions<'a> {
    /// What the programs of the plan are: a path, or a bare name that is looked for in the `PATH` of `base_env`.
    pub programs: BTreeMap<String, PathBuf>,
    /// Commands that programs may be started with; a program without any may be started with all.
    pub grants: Vec<Grant>,
    /// Environment variables that the plan may set: the manifest's list, `*` stands for any text.
    pub env_allowed: Vec<String>,
    /// Secrets that the plan may use: the manifest's list.
    pub secrets_allowed: Vec<String>,
    /// The small environment that every process gets: `PATH`, `HOME` and the like.
    pub base_env: BTreeMap<String, String>,
    /// The user's own variables; they win over the plan's.
    pub env: BTreeMap<String, String>,
    /// Appended to the arguments of the serving process.
    pub extra_args: Vec<String>,
    /// Looks up a secret.
    pub secrets: &'a dyn Fn(&str) -> Option<String>,
    /// Private folder of the replica: logs, the plan's files, and where the processes start. Made when missing.
    pub folder: PathBuf,
    /// Address that the processes listen on.
    pub host: String,
    /// Takes the place of the plan's own patience.
    pub ready_timeout: Option<Duration>,
    /// Devices set aside for the replica, in the order of the request.
    pub devices: Vec<Device>,
}

/// What a launch is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// A process was started.
    Started {
        /// Process of the plan.
        process: &'a str,
        /// The command, quoted for a shell.
        line: &'a str,
        /// Number of the process.
        pid: u32,
    },
    /// It is not ready yet. Comes a few times a second.
    Waiting {
        /// Process of the plan.
        process: &'a str,
        /// Since its start.
        elapsed: Nanos,
        /// Newest line of its log.
        log: Option<&'a str>,
    },
    /// It is ready.
    Ready {
        /// Process of the plan.
        process: &'a str,
        /// Since its start.
        elapsed: Nanos,
    },
}
