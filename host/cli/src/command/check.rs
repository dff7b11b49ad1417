//! `bench-host check`.

use crate::args::{Check, Global};
use crate::catalog::Adapters;
use crate::diagnostics::Failure;
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::workload;

pub(super) fn run(args: &Check, global: &Global, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut exit = Exit::Success;
    for file in &args.files {
        let adapters = Adapters::of_workload(global, file)?;
        match workload::read(file, &args.set, &adapters, terminal) {
            Ok(_) => terminal.print(&format!("{}: ok\n", file.display()))?,
            // Every file is looked at; the first failure's code is the command's.
            Err(failure) => {
                terminal.failure(&failure);
                if exit == Exit::Success {
                    exit = failure.exit();
                }
            }
        }
    }
    Ok(exit)
}
