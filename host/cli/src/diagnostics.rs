//! What can go wrong in a command, and how it is shown.

use crate::exit::Exit;
use miette::{GraphicalReportHandler, GraphicalTheme};
use std::error::Error;
use std::fmt::{self, Write as _};

/// Why a command ended before it was done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Mistakes in a workload file, with its text.
    Workload(Box<bench_workload::Report>),
    /// Anything else.
    Plain {
        /// What it means for a script.
        exit: Exit,
        /// What is wrong.
        message: String,
        /// Why, from the nearest cause on.
        causes: Vec<String>,
        /// What to do about it.
        help: Option<String>,
    },
}

impl Failure {
    /// A failure with a message of its own.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure::Plain { exit, message: message.into(), causes: Vec::new(), help: None }
    }

    /// Wrong input.
    pub(crate) fn input(message: impl Into<String>) -> Failure {
        Failure::new(Exit::BadInput, message)
    }

    /// A fault of ours, or of the disk.
    pub(crate) fn internal(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Internal, message)
    }

    /// Adds an error and its sources as causes.
    #[must_use]
    pub(crate) fn because(mut self, error: &(dyn Error + 'static)) -> Failure {
        if let Failure::Plain { causes, .. } = &mut self {
            let mut next = Some(error);
            while let Some(e) = next {
                causes.push(e.to_string());
                next = e.source();
            }
        }
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub(crate) fn help(mut self, text: impl Into<String>) -> Failure {
        if let Failure::Plain { help, .. } = &mut self {
            *help = Some(text.into());
        }
        self
    }

    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Failure::Workload(_) => Exit::BadInput,
            Failure::Plain { exit, .. } => *exit,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Workload(r) => write!(f, "`{}` has mistakes", r.source_name),
            Failure::Plain { message, .. } => f.write_str(message),
        }
    }
}

impl Error for Failure {}

/// Renders a failure as it stands on stderr.
pub(crate) fn render(failure: &Failure, color: bool, width: usize) -> String {
    match failure {
        Failure::Workload(report) => render_report(report, color, width),
        Failure::Plain { message, causes, help, .. } => {
            let mut out = format!("{}: {message}\n", paint("error", "31;1", color));
            for cause in causes {
                let _ = writeln!(out, "  because: {cause}");
            }
            if let Some(help) = help {
                let _ = writeln!(out, "{}: {help}", paint("help", "36", color));
            }
            out
        }
    }
}

/// Renders the diagnostics of a workload, each with its lines.
pub(crate) fn render_report(report: &bench_workload::Report, color: bool, width: usize) -> String {
    let theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(width).with_links(false);
    let mut out = String::new();
    for d in report.located() {
        // Writing to a string can't fail.
        let _ = handler.render_report(&mut out, &d);
    }
    out
}

fn paint(text: &str, code: &str, color: bool) -> String {
    if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}
