//! Where the newest self-test of this machine lies.

use crate::diagnostics::Failure;
use bench_trace::SelfTest;
use std::path::{Path, PathBuf};

/// `bench-host/selftest.json` in the user's folder of state; `None` where there is no such folder.
fn place() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")))?;
    Some(base.join("bench-host/selftest.json"))
}

/// The stored one. One that can't be read counts as none: it is measured in a minute.
pub(crate) fn read() -> Option<SelfTest> {
    serde_json::from_slice(&std::fs::read(place()?).ok()?).ok()
}

/// Stores one; where.
///
/// # Errors
/// It can't be written.
pub(crate) fn write(result: &SelfTest) -> Result<PathBuf, Failure> {
    let no_place = || Failure::input("there is no folder for the result").help("set `HOME` or `XDG_STATE_HOME`");
    let path = place().ok_or_else(no_place)?;
    let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| replace(&path, result));
    written.map_err(|e| Failure::input(format!("`{}` can't be written", path.display())).because(&e))?;
    Ok(path)
}

/// Whole or not at all: a run may read it meanwhile.
fn replace(path: &Path, result: &SelfTest) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    std::fs::write(&beside, serde_json::to_vec_pretty(result)?)?;
    std::fs::rename(&beside, path)
}
