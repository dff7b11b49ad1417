//! The three tools, built by cargo.

use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the tools are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools {
    /// The server.
    pub mock: PathBuf,
    /// The client.
    pub floor: PathBuf,
    /// The timer.
    pub timer: PathBuf,
}

impl Tools {
    /// Builds them, optimised, in the workspace at `root`. They are programs of another package than the one that runs
    /// them, so that cargo does not build them by itself.
    pub fn build(cargo: &Path, root: &Path) -> io::Result<Tools> {
        let mut command = Command::new(cargo);
        command.args(["build", "--release", "--locked", "-p", "bench-limit", "--bins", "--message-format", "json"]);
        let output = command.current_dir(root).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(io::Error::other(format!("`cargo build -p bench-limit` ended with {}", output.status)));
        }
        Tools::of(&String::from_utf8_lossy(&output.stdout))
    }

    /// The programs among cargo's messages.
    fn of(messages: &str) -> io::Result<Tools> {
        let artifacts: Vec<Value> = messages.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
        let find = |name: &str| {
            let artifact = artifacts.iter().find(|a| a["target"]["name"] == name && a["executable"].is_string());
            let path = artifact.and_then(|a| a["executable"].as_str()).map(PathBuf::from);
            path.ok_or_else(|| io::Error::other(format!("cargo told of no program `{name}`")))
        };
        Ok(Tools { mock: find("limit-mock")?, floor: find("limit-floor")?, timer: find("limit-timer")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_among_messages() {
        let artifact = |name: &str| format!("{{\"target\":{{\"name\":\"{name}\"}},\"executable\":\"/t/{name}\"}}\n");
        let library = "{\"target\":{\"name\":\"limit-mock\"},\"executable\":null}\nnot json\n";
        let messages = [library, &artifact("limit-mock"), &artifact("limit-floor"), &artifact("limit-timer")].concat();
        let tools = Tools::of(&messages).unwrap();
        assert_eq!(tools.mock, Path::new("/t/limit-mock"));
        assert_eq!(tools.timer, Path::new("/t/limit-timer"));
        assert!(Tools::of(library).unwrap_err().to_string().contains("`limit-mock`"));
    }
}
