//! What the end-to-end tests share: the binary, temporary workloads, runs read back.
#![allow(dead_code, reason = "each test binary uses its part")]

use bench_core::record::RequestRecord;
use bench_trace::Trace;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ has a parent").to_path_buf()
}

/// A file that `tests/setup.sh` fetched.
pub(crate) fn cached(path: &str) -> PathBuf {
    let file = root().join("tests/.cache").join(path);
    assert!(file.exists(), "`{}` is missing: run tests/setup.sh", file.display());
    file
}

/// The binary, with compiled adapters kept beside the tests' other files.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench-host-under-test"));
    command.env("BENCH_HOST_CACHE", env!("CARGO_TARGET_TMPDIR")).env("NO_COLOR", "1");
    command
}

/// Runs the binary to its end.
pub(crate) fn bench_host<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    command().args(args).output().expect("run bench-host")
}

/// stdout as text.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// stderr as text.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Fails with everything the process said, unless it ended with `code`.
pub(crate) fn assert_exit(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "\n--- stdout\n{}\n--- stderr\n{}", stdout(output), stderr(output));
}

/// A workload in a folder of its own, and the run that it makes.
pub(crate) struct Case {
    folder: TempDir,
}

impl Case {
    /// Writes `workload.toml`.
    pub(crate) fn new(workload: &str) -> Case {
        let folder = tempfile::tempdir().expect("make a folder");
        std::fs::write(folder.path().join("workload.toml"), workload).expect("write the workload");
        Case { folder }
    }

    /// Writes another file beside it.
    pub(crate) fn file(self, name: &str, contents: &str) -> Case {
        std::fs::write(self.folder.path().join(name), contents).expect("write a file");
        self
    }

    pub(crate) fn workload(&self) -> PathBuf {
        self.folder.path().join("workload.toml")
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    /// `bench-host run`, ready to start.
    pub(crate) fn command(&self) -> Command {
        let mut command = command();
        command.arg("run").arg(self.workload()).arg("--out").arg(self.out()).arg("--quiet");
        command
    }

    /// `bench-host run` to its end.
    pub(crate) fn run(&self, more: &[&str]) -> Output {
        self.command().args(more).output().expect("run bench-host")
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        let text = std::fs::read(self.out().join(name)).expect("read a file of the run");
        serde_json::from_slice(&text).expect("it is JSON")
    }

    pub(crate) fn summary(&self) -> Value {
        self.json("summary.json")
    }

    pub(crate) fn rows(&self) -> Vec<RequestRecord> {
        let trace = Trace::open(&self.out()).expect("open the trace");
        trace.records().map(|r| r.expect("read a row")).collect()
    }

    pub(crate) fn trace(&self) -> Trace {
        Trace::open(&self.out()).expect("open the trace")
    }
}

/// A dataset of `n` own prompts.
pub(crate) fn prompts(n: usize, output_tokens: u32) -> String {
    (0..n)
        .map(|i| format!("{{\"prompt\": \"Tell me about number {i}.\", \"output_tokens\": {output_tokens}}}\n"))
        .collect()
}

/// A workload with the simulated engine, own prompts and one load.
pub(crate) fn sim_workload(options: &str, load: &str) -> String {
    format!(
        "name = \"sim\"\n[engine]\nadapter = \"sim\"\nmodel = \"sim\"\n[engine.options]\n{options}\n\
         [[scenario]]\nname = \"own\"\n[scenario.dataset]\nadapter = \"jsonl\"\n\
         options = {{ path = \"prompts.jsonl\" }}\n[scenario.warmup]\nrequests = 0\n[scenario.load]\n{load}\n"
    )
}

/// A figure's single value.
pub(crate) fn value(result: &Value, figure: &str) -> f64 {
    result["figures"][figure]["value"].as_f64().unwrap_or_else(|| panic!("no value of `{figure}` in {result:#}"))
}

/// A statistic of a figure.
pub(crate) fn statistic(result: &Value, figure: &str, statistic: &str) -> f64 {
    let found = &result["figures"][figure]["distribution"][statistic];
    found.as_f64().unwrap_or_else(|| panic!("no `{statistic}` of `{figure}` in {:#}", result["figures"][figure]))
}

/// Processes whose command line contains `text`.
pub(crate) fn processes_with(text: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("read /proc");
    entries
        .filter_map(|e| {
            let line = std::fs::read(e.ok()?.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(text).then_some(line)
        })
        .collect()
}
