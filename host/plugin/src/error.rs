//! Why an adapter could not be found, loaded or used.

use crate::catalog::AdapterKind;
use bench_core::adapter::{AdapterDiagnostic, AdapterInfo, Severity};
use std::path::PathBuf;

/// Anything that goes wrong with an adapter. Each says which adapter, in which call, and what happened.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// The sandbox itself can't work on this machine.
    #[error("failed to start the WebAssembly runtime: {what}")]
    Runtime {
        /// What the runtime said.
        what: String,
    },
    /// A file could not be read.
    #[error("failed to read `{path}`: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no bundled adapter of that name.
    #[error(
        "unknown {kind} adapter `{name}`; bundled are {}{}; an adapter of your own is named by the path of its `.wasm`",
        list(known),
        nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default()
    )]
    Unknown {
        /// What was looked for.
        kind: AdapterKind,
        /// The name as it was given.
        name: String,
        /// Names that there are, sorted.
        known: Vec<String>,
        /// The known name that is spelt most like it.
        nearest: Option<String>,
    },
    /// The file is no adapter that this version can run.
    #[error("failed to load adapter `{adapter}`: {what}")]
    Load {
        /// Id or path.
        adapter: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The adapter answered, but not what the contract allows.
    #[error("adapter `{adapter}` {version} broke the contract in `{call}`: {what}; report it to the adapter's author")]
    Contract {
        /// Id of the adapter.
        adapter: String,
        /// Its version.
        version: String,
        /// Function of the contract.
        call: &'static str,
        /// What is wrong with the answer.
        what: String,
    },
    /// The adapter did not answer: it trapped, or ran into a limit.
    #[error("adapter `{adapter}` {version} failed in `{call}`: {what}")]
    Fault {
        /// Id of the adapter.
        adapter: String,
        /// Its version.
        version: String,
        /// Function of the contract.
        call: &'static str,
        /// What happened.
        what: String,
    },
    /// The adapter answered with an error of its own.
    #[error("adapter `{adapter}` {version}: {error}")]
    Adapter {
        /// Id of the adapter.
        adapter: String,
        /// Its version.
        version: String,
        /// Function of the contract.
        call: &'static str,
        /// What it said.
        error: AdapterError,
    },
}

/// An error that an adapter answered with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdapterError {
    /// The combination of settings can't work.
    #[error("{}", settings(.0))]
    InvalidSettings(Vec<AdapterDiagnostic>),
    /// Well formed, but this engine or dataset can't do it.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// Input from outside is not what it should be.
    #[error("malformed `{what}`{}: {message}", offset.map(|o| format!(" at byte {o}")).unwrap_or_default())]
    Malformed {
        /// What was being read.
        what: String,
        /// Where.
        offset: Option<u64>,
        /// What is wrong.
        message: String,
    },
    /// A bug that the adapter noticed itself.
    #[error("a bug that the adapter noticed itself: {0}")]
    Internal(String),
}

fn settings(diagnostics: &[AdapterDiagnostic]) -> String {
    let errors: Vec<String> = diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| {
            let key = d.key.as_ref().map(|k| format!("`{k}`: ")).unwrap_or_default();
            let help = d.help.as_ref().map(|h| format!(" ({h})")).unwrap_or_default();
            format!("{key}{}{help}", d.message)
        })
        .collect();
    if errors.is_empty() { "the settings can't work together".to_owned() } else { errors.join("; ") }
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// Why one call failed, before it is known which adapter it was.
#[derive(Debug)]
pub(crate) enum CallError {
    /// See [`PluginError::Contract`].
    Contract(String),
    /// See [`PluginError::Fault`].
    Fault(String),
    /// See [`PluginError::Adapter`].
    Adapter(AdapterError),
}

/// Who is being called: names the adapter in errors.
#[derive(Clone, Debug)]
pub(crate) struct Callee {
    pub(crate) adapter: String,
    pub(crate) version: String,
}

impl Callee {
    /// An adapter before it described itself.
    pub(crate) fn unknown(id: &str) -> Callee {
        Callee { adapter: id.to_owned(), version: "(version not known yet)".to_owned() }
    }

    /// The adapter after it described itself. A bundled one goes by the id in its manifest.
    pub(crate) fn introduced(self, info: &AdapterInfo, bundled: bool) -> Result<Callee, PluginError> {
        if bundled && info.id != self.adapter {
            let what = format!("its id is `{}`, and it is bundled as `{}`", info.id, self.adapter);
            return Err(self.error("describe", CallError::Contract(what)));
        }
        Ok(Callee { version: info.version.clone(), ..self })
    }

    pub(crate) fn error(&self, call: &'static str, error: CallError) -> PluginError {
        let (adapter, version) = (self.adapter.clone(), self.version.clone());
        match error {
            CallError::Contract(what) => PluginError::Contract { adapter, version, call, what },
            CallError::Fault(what) => PluginError::Fault { adapter, version, call, what },
            CallError::Adapter(error) => PluginError::Adapter { adapter, version, call, error },
        }
    }

    /// Turns what a check of an answer found into an error.
    pub(crate) fn verified<T>(&self, call: &'static str, answer: Result<T, String>) -> Result<T, PluginError> {
        answer.map_err(|what| self.error(call, CallError::Contract(what)))
    }
}
