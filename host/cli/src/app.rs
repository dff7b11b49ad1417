//! From arguments to an exit code.

use crate::args::Cli;
use crate::command;
use crate::exit::Exit;
use crate::terminal::Terminal;
use clap::Parser;
use std::ffi::OsString;

/// Runs the command line `args` (the program's name first). Prints to the process's own stdout and stderr.
pub fn main_with(args: Vec<OsString>) -> Exit {
    let command_line: Vec<String> = args.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(e) => {
            // clap's own exit code is 2 for mistakes and 0 for help and version, which are ours too. A closed
            // stream can't be told anything.
            let _ = e.print();
            return if e.use_stderr() { Exit::BadInput } else { Exit::Success };
        }
    };
    let terminal = Terminal::new(cli.global.color);
    start_log(cli.global.verbose, &terminal);
    match command::dispatch(cli, &terminal, command_line) {
        Ok(exit) => exit,
        Err(failure) => {
            terminal.failure(&failure);
            failure.exit()
        }
    }
}

fn start_log(verbose: u8, terminal: &Terminal) {
    let filter = match verbose {
        0 => "error",
        1 => "bench_host=info,bench=info,adapter=info,warn",
        _ => "bench_host=debug,bench=debug,adapter=debug,info",
    };
    // Fails only where a log is there already (several commands in one process, as in tests): that one is kept.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .with_ansi(terminal.color_stderr())
        .without_time()
        .try_init();
}
