//! Shorthands for diagnostics and errors.

use crate::types::{Diagnostic, Error, MalformedInput, Severity};

impl Diagnostic {
    /// The settings can't work. `message` is one sentence without a full stop.
    ///
    /// ```
    /// use bench_sdk::Diagnostic;
    /// let d = Diagnostic::error("`a` excludes `b`").key("a").help("remove one of them");
    /// assert_eq!(d.key.as_deref(), Some("a"));
    /// ```
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, key: None, message: message.into(), help: None }
    }

    /// Probably not what was meant.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message) }
    }

    /// Good to know.
    pub fn note(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Note, ..Diagnostic::error(message) }
    }

    /// The setting at fault.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Diagnostic {
        self.key = Some(key.into());
        self
    }

    /// What to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

impl Error {
    /// Well formed, but this engine or data set can't do it.
    pub fn unsupported(what: impl Into<String>) -> Error {
        Error::Unsupported(what.into())
    }

    /// Input from outside is not what it should be; `offset` is the byte in it.
    pub fn malformed(what: impl Into<String>, offset: Option<u64>, message: impl Into<String>) -> Error {
        Error::Malformed(MalformedInput { what: what.into(), offset, message: message.into() })
    }

    /// A fault of the adapter that it noticed itself.
    pub fn internal(what: impl Into<String>) -> Error {
        Error::Internal(what.into())
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Error {
        Error::InvalidSettings(vec![diagnostic])
    }
}

impl From<MalformedInput> for Error {
    fn from(malformed: MalformedInput) -> Error {
        Error::Malformed(malformed)
    }
}

/// The [`Info`](crate::Info) of the crate that calls it: version, summary and licence come from its `Cargo.toml`.
///
/// ```
/// let info = bench_sdk::info!("vllm", "vLLM");
/// assert_eq!(info.id, "vllm");
/// ```
#[macro_export]
macro_rules! info {
    ($id:expr, $name:expr) => {
        $crate::Info {
            id: ($id).into(),
            name: ($name).into(),
            version: env!("CARGO_PKG_VERSION").into(),
            summary: env!("CARGO_PKG_DESCRIPTION").into(),
            license: env!("CARGO_PKG_LICENSE").into(),
            homepage: option_env!("CARGO_PKG_REPOSITORY").filter(|url| !url.is_empty()).map(Into::into),
        }
    };
}
