//! The process's stdout and stderr: results on the one, everything else on the other.

use crate::args::Color;
use crate::diagnostics::{self, Failure};
use crate::exit::Exit;
use std::io::{self, IsTerminal, Write};

/// Where a command prints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    color: Color,
    no_color: bool,
}

impl Terminal {
    /// The process's own streams.
    pub(crate) fn new(color: Color) -> Terminal {
        Terminal { color, no_color: std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) }
    }

    fn colors(&self, is_terminal: bool) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !self.no_color,
        }
    }

    /// Whether stdout is coloured.
    pub(crate) fn color_stdout(&self) -> bool {
        self.colors(io::stdout().is_terminal())
    }

    /// Whether stderr is coloured.
    pub(crate) fn color_stderr(&self) -> bool {
        self.colors(io::stderr().is_terminal())
    }

    /// Whether a person watches stderr.
    pub(crate) fn is_watched(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Writes a result to stdout. A reader that went away (`| head`) is no fault.
    ///
    /// # Errors
    /// stdout can't be written for another reason: a full disk behind a redirection.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::new(Exit::Internal, "failed to write to stdout").because(&e))
            }
            _ => Ok(()),
        }
    }

    /// Says something on stderr. A closed stderr can't be told anything.
    pub(crate) fn say(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Shows a failure on stderr.
    pub(crate) fn failure(&self, failure: &Failure) {
        let _ = write!(io::stderr().lock(), "{}", diagnostics::render(failure, self.color_stderr(), 100));
    }

    /// Shows warnings of a workload on stderr.
    pub(crate) fn warnings(&self, report: &bench_workload::Report) {
        if !report.diagnostics.is_empty() {
            let _ = write!(io::stderr().lock(), "{}", diagnostics::render_report(report, self.color_stderr(), 100));
        }
    }
}
