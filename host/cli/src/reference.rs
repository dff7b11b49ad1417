//! The reference of the command line, made of its own help texts.

use crate::args::Cli;
use crate::exit::Exit;
use clap::CommandFactory;
use std::fmt::Write as _;

/// Every command with its options, and the exit codes, as Markdown.
pub fn reference() -> String {
    let mut out = String::from("# Command line\n\nGenerated from the program's own help.\n");
    section(&mut out, Cli::command().term_width(100), "bench-host");
    out.push_str("\n## Exit codes\n\n| code | meaning |\n|---|---|\n");
    for (exit, meaning) in Exit::TABLE {
        let _ = writeln!(out, "| {} | {meaning} |", exit as u8);
    }
    out
}

fn section(out: &mut String, command: clap::Command, path: &str) {
    let mut command = command.bin_name(path.to_owned());
    let _ = write!(out, "\n## {path}\n\n```text\n{}\n```\n", command.render_long_help().to_string().trim_end());
    let below: Vec<clap::Command> = command.get_subcommands().filter(|c| c.get_name() != "help").cloned().collect();
    for sub in below {
        let path = format!("{path} {}", sub.get_name());
        section(out, sub.term_width(100), &path);
    }
}
