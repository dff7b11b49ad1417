//! `bench-host report`.

use crate::args::{Compat, Report, ReportFormat};
use crate::diagnostics::Failure;
use crate::exit::Exit;
use crate::terminal::Terminal;
use bench_report::{ReportError, Summary, format};
use bench_trace::Trace;

pub(super) fn run(args: &Report, terminal: &Terminal) -> Result<Exit, Failure> {
    let trace = Trace::open(&args.dir).map_err(|e| {
        Failure::input(format!("`{}` can't be reported", args.dir.display()))
            .because(&e)
            .help("give the folder that `bench-host run --out` wrote")
    })?;
    let text = match args.compat {
        Some(tool) => compat(&trace, tool)?,
        None => {
            let summary = bench_report::summarize(&trace).map_err(|e| no_summary(&e))?;
            render(&summary, args.format, terminal.color_stdout())?
        }
    };
    terminal.print(&text)?;
    Ok(Exit::Success)
}

/// The summary in a form.
pub(super) fn render(summary: &Summary, form: ReportFormat, color: bool) -> Result<String, Failure> {
    let mut out = Vec::new();
    match form {
        ReportFormat::Text => format::terminal::write(summary, color, &mut out),
        ReportFormat::Json => format::json::write(summary, &mut out),
        ReportFormat::Csv => format::csv::write(summary, &mut out),
        ReportFormat::Md => format::markdown::write(summary, &mut out),
    }
    .map_err(|e| no_summary(&e))?;
    text(out)
}

/// What another tool would print of the same trace.
pub(super) fn compat(trace: &Trace, tool: Compat) -> Result<String, Failure> {
    let mut out = Vec::new();
    match tool {
        Compat::Vllm011 => bench_report::compat::vllm_011(trace, &mut out),
    }
    .map_err(|e| no_summary(&e))?;
    text(out)
}

fn text(bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|e| Failure::internal("the report is no text").because(&e))
}

fn no_summary(e: &ReportError) -> Failure {
    Failure::internal("the trace gives no report").because(e)
}
