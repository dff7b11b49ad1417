//! `bench-host run`.

use super::report;
use crate::args::{Global, ReportFormat, Run};
use crate::catalog::Adapters;
use crate::diagnostics::Failure;
use crate::exit::Exit;
use crate::outcome;
use crate::session::{self, Asked};
use crate::terminal::Terminal;
use crate::workload;

pub(super) fn run(
    args: &Run,
    global: &Global,
    terminal: &Terminal,
    command_line: Vec<String>,
) -> Result<Exit, Failure> {
    let adapters = Adapters::of_workload(global, &args.workload.file)?;
    let plan = workload::read(&args.workload.file, &args.workload.set, &adapters, terminal)?;
    let done = session::run(Asked {
        plan: &plan,
        adapters: &adapters,
        out: args.out.clone(),
        command_line,
        terminal: *terminal,
        quiet: args.quiet,
    })?;
    let mut text = report::render(&done.summary, ReportFormat::Text, terminal.color_stdout())?;
    if let Some(tool) = args.compat {
        text.push('\n');
        text.push_str(&report::compat(&done.trace, tool)?);
    }
    let dir = done.trace.dir().display();
    text.push_str(&format!(
        "\ntrace    {dir}/requests.parquet\nsummary  {dir}/summary.json\nnext     bench-host report {dir} --format md\n"
    ));
    terminal.print(&text)?;
    if let Some(failure) = done.failure {
        terminal.failure(&failure);
        return Ok(failure.exit());
    }
    Ok(outcome::exit(&done.summary))
}
