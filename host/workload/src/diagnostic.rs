//! What there is to say of a workload, and where.

use bench_core::adapter::Severity;
use miette::{LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// One mistake (or warning) of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Byte ranges of the workload's text and what to say of each; the first is the main one. Empty
    /// where the mistake has no place in the text, as in an override.
    pub labels: Vec<(Range<usize>, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, message: message.into(), labels: Vec::new(), help: None }
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message) }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Points at a place of the text.
    #[must_use]
    pub fn with_label(mut self, span: Range<usize>, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span, text.into()));
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl miette::Diagnostic for Diagnostic {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Note => miette::Severity::Advice,
            Severity::Warning => miette::Severity::Warning,
            Severity::Error => miette::Severity::Error,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|h| Box::new(h) as Box<dyn fmt::Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.labels.is_empty() {
            return None;
        }
        Some(Box::new(self.labels.iter().map(|(span, text)| {
            let text = if text.is_empty() { None } else { Some(text.clone()) };
            LabeledSpan::new_with_span(text, span.clone())
        })))
    }
}

/// The diagnostics of one workload together with its text, to be rendered.
#[derive(Clone, Debug)]
pub struct Report {
    /// Name of the source, as the user gave it.
    pub source_name: String,
    /// The workload's text.
    pub text: Arc<str>,
    /// What there is to say.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// The diagnostics, each able to show its lines.
    pub fn located(&self) -> impl Iterator<Item = LocatedDiagnostic> + '_ {
        let source = Arc::new(NamedSource::new(&self.source_name, Arc::clone(&self.text)));
        self.diagnostics.iter().map(move |d| LocatedDiagnostic { diagnostic: d.clone(), source: Arc::clone(&source) })
    }
}

/// A diagnostic that carries the text it is about; what a renderer takes.
#[derive(Clone, Debug)]
pub struct LocatedDiagnostic {
    /// What there is to say.
    pub diagnostic: Diagnostic,
    source: Arc<NamedSource<Arc<str>>>,
}

impl fmt::Display for LocatedDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostic.fmt(f)
    }
}

impl std::error::Error for LocatedDiagnostic {}

impl miette::Diagnostic for LocatedDiagnostic {
    fn severity(&self) -> Option<miette::Severity> {
        miette::Diagnostic::severity(&self.diagnostic)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        miette::Diagnostic::help(&self.diagnostic)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        miette::Diagnostic::labels(&self.diagnostic)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&*self.source)
    }
}
