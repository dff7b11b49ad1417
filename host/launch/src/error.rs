//! Why an engine could not be launched or attached to.

use crate::process::ExitInfo;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why an engine could not be launched or attached to. Everything that was started is stopped by then.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A program that nothing says how to find.
    #[error("the plan starts `{program}`, which is bound to no program; bind it to an executable{}", known(.bound))]
    NotBound {
        /// Name in the plan.
        program: String,
        /// Names that are bound.
        bound: Vec<String>,
    },
    /// A bound program that is not there.
    #[error("`{program}` is bound to `{path}`, which is no executable file{}; install it, or bind `{program}` to its path",
        looked(.searched))]
    NotFound {
        /// Name in the plan.
        program: String,
        /// What it is bound to.
        path: PathBuf,
        /// It was looked for in `PATH`.
        searched: bool,
    },
    /// The command is outside what the user allows.
    #[error("`{line}` matches no grant for `{program}`; its grants are {}; add one, or change the settings that lead to \
        this command", list(.grants))]
    NotGranted {
        /// Name in the plan.
        program: String,
        /// The command, quoted for a shell.
        line: String,
        /// The patterns there are.
        grants: Vec<String>,
    },
    /// The plan holds something that no plan may ask for.
    #[error("process `{process}`: {what}; correct the adapter")]
    BadPlan {
        /// Process of the plan.
        process: String,
        /// What is wrong with it.
        what: String,
    },
    /// A secret that the user did not give.
    #[error(
        "process `{process}` needs the secret `{secret}`, which is not set; set the environment variable `{secret}`"
    )]
    NoSecret {
        /// Process of the plan.
        process: String,
        /// Name of the secret.
        secret: String,
    },
    /// Something already listens where the process is to listen.
    #[error("port {port} for process `{process}` is taken{}; end that program, or take another port", by(.owner))]
    PortTaken {
        /// Process of the plan.
        process: String,
        /// The port.
        port: u16,
        /// Who listens, where that is known.
        owner: Option<String>,
    },
    /// The operating system refused.
    #[error("can't {what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// The process ended before it was ready.
    #[error("process `{process}` ended before it was ready: {exit}; its log is `{log}`{}", shown(.tail))]
    Exited {
        /// Process of the plan.
        process: String,
        /// How it ended.
        exit: ExitInfo,
        /// Its log.
        log: PathBuf,
        /// The last lines of it.
        tail: Vec<String>,
    },
    /// The log says that it will never be ready.
    #[error("process `{process}` can't become ready, it says: {line}; its log is `{log}`")]
    FatalLog {
        /// Process of the plan.
        process: String,
        /// The line.
        line: String,
        /// Its log.
        log: PathBuf,
    },
    /// Not ready in time.
    #[error("process `{process}` was not ready after {timeout:?} ({state}); raise `ready-timeout` or look into its log \
        `{log}`{}", shown(.tail))]
    NotReady {
        /// Process of the plan.
        process: String,
        /// How long it had.
        timeout: Duration,
        /// What the last look showed.
        state: String,
        /// Its log.
        log: PathBuf,
        /// The last lines of it.
        tail: Vec<String>,
    },
    /// The user ended the wait.
    #[error("the launch was interrupted")]
    Cancelled,
    /// Another program answers on the port.
    #[error(
        "port {port} is answered by {owner}, not by process `{process}`, which was started for it; end that program, \
        or take another port"
    )]
    Impostor {
        /// Process of the plan.
        process: String,
        /// The port.
        port: u16,
        /// Who listens.
        owner: String,
    },
    /// The server does not answer, or not as it should.
    #[error("`{url}` {what}; see that the server runs and that the address is right")]
    Server {
        /// What was asked.
        url: String,
        /// What came.
        what: String,
    },
    /// The server serves other models.
    #[error("the server at `{url}` does not serve `{model}`, it serves {}; ask for one of these, or serve it under that \
        name", list(.served))]
    OtherModel {
        /// Root of the server.
        url: String,
        /// The model asked for.
        model: String,
        /// Models that it serves.
        served: Vec<String>,
    },
}

impl LaunchError {
    /// For `map_err`: what was tried when the operating system refused.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> LaunchError {
        let what = what.into();
        move |source| LaunchError::Io { what, source }
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn known(bound: &[String]) -> String {
    if bound.is_empty() { String::new() } else { format!(" (bound are {})", list(bound)) }
}

fn looked(searched: &bool) -> &'static str {
    if *searched { " in any folder of `PATH`" } else { "" }
}

fn by(owner: &Option<String>) -> String {
    owner.as_ref().map(|owner| format!(" by {owner}")).unwrap_or_default()
}

fn shown(tail: &[String]) -> String {
    if tail.is_empty() {
        return "; it is empty".into();
    }
    let mut out = String::from("; it ends:");
    for line in tail {
        let _ = write!(out, "\n  | {line}");
    }
    out
}
