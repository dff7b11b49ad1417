//! Reading a workload file.

use crate::catalog::Adapters;
use crate::diagnostics::Failure;
use crate::terminal::Terminal;
use bench_workload::{Override, Plan};
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

/// Longest workload file. A workload is written by hand.
const MOST_BYTES: u64 = 16 << 20;

/// Reads a workload and shows its warnings.
pub(crate) fn read(file: &Path, set: &[String], adapters: &Adapters, terminal: &Terminal) -> Result<Plan, Failure> {
    let text = text(file)?;
    let overrides: Vec<Override> = set
        .iter()
        .map(|s| Override::from_str(s))
        .collect::<Result<_, _>>()
        .map_err(|e| Failure::input("`--set` can't be read").because(&e))?;
    let name = file.display().to_string();
    match bench_workload::read(&name, &text, adapters.base_dir(), &overrides, adapters) {
        Ok((plan, warnings)) => {
            terminal.warnings(&warnings);
            Ok(plan)
        }
        Err(report) => Err(Failure::Workload(Box::new(report))),
    }
}

fn text(file: &Path) -> Result<String, Failure> {
    let shown = file.display();
    let unreadable = |e: std::io::Error| Failure::input(format!("failed to read the workload `{shown}`")).because(&e);
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    if opened.metadata().map_err(unreadable)?.is_dir() {
        return Err(Failure::input(format!("`{shown}` is a folder")).help("give the workload file itself"));
    }
    let mut bytes = Vec::new();
    opened.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::input(format!("`{shown}` is longer than 16 MiB"))
            .help("a workload names its data; prompts belong into a file of the `jsonl` dataset"));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Failure::input(format!("`{shown}` is no UTF-8 text: byte {at} can't be read")).help("save it as UTF-8")
    })
}
