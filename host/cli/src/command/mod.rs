//! The commands.

mod check;
mod plan;
mod plugins;
mod report;
mod run;
mod samples;
mod schema;
mod selftest;
pub(crate) mod sim;

use crate::args::{Cli, Command};
use crate::diagnostics::Failure;
use crate::exit::Exit;
use crate::terminal::Terminal;

/// Does what the arguments say.
pub(crate) fn dispatch(cli: Cli, terminal: &Terminal, command_line: Vec<String>) -> Result<Exit, Failure> {
    let global = cli.global;
    match cli.command {
        Command::Run(args) => run::run(&args, &global, terminal, command_line),
        Command::Plan(args) => plan::run(&args, &global, terminal),
        Command::Check(args) => check::run(&args, &global, terminal),
        Command::Samples(args) => samples::run(&args, &global, terminal),
        Command::Report(args) => report::run(&args, terminal),
        Command::Plugins(args) => plugins::run(&args, &global, terminal),
        Command::Selftest(args) => selftest::run(&args, terminal),
        Command::Sim(args) => sim::run(*args, terminal),
        Command::Schema(_) => schema::run(&global, terminal),
    }
}
