//! The command line: what it checks, prints and refuses, and with which exit code.

mod common;

use common::{Case, assert_exit, bench_host, command, prompts, root, sim_workload, stderr, stdout};
use std::path::PathBuf;

fn workloads() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("workloads"))
        .expect("read workloads")
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_example_passes_check() {
    let files = workloads();
    assert!(files.len() >= 5, "{files:?}");
    let output = command().arg("check").args(&files).output().expect("run bench-host");
    assert_exit(&output, 0);
    assert_eq!(stdout(&output).lines().filter(|l| l.ends_with(": ok")).count(), files.len());
}

/// Compares a generated file with what is checked in, or writes it where `BENCH_BLESS` is set.
fn assert_current(file: &str, now: &str) {
    let path = root().join(file);
    if std::env::var_os("BENCH_BLESS").is_some() {
        std::fs::write(&path, now).expect("write the generated file");
        return;
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        before == now,
        "`{file}` is stale; write it with: BENCH_BLESS=1 cargo test --release -p bench-tests --test cli"
    );
}

#[test]
fn the_schema_is_current() {
    let output = bench_host(["schema"]);
    assert_exit(&output, 0);
    assert_current("workloads/workload.schema.json", &stdout(&output));
}

#[test]
fn the_reference_of_the_command_line_is_current() {
    assert_current("host/cli/REFERENCE.md", &bench_host::reference());
}

#[test]
fn every_adapter_is_listed_and_described() {
    let list = bench_host(["plugins", "list"]);
    assert_exit(&list, 0);
    let names: Vec<String> =
        stdout(&list).lines().filter_map(|l| l.split_whitespace().nth(1).map(str::to_owned)).collect();
    for name in ["vllm", "sglang", "tensorrt-llm", "llama-cpp", "openai", "sim", "sharegpt", "random", "jsonl"] {
        assert!(names.iter().any(|n| n == name), "{name} in {names:?}");
        let shown = bench_host(["plugins", "inspect", name]);
        assert_exit(&shown, 0);
        let text = stdout(&shown);
        assert!(text.contains("contract  0.1.0") && text.contains("sha256:"), "{text}");
        assert!(!text.contains("wasi:"), "{text}");
    }
}

#[test]
fn all_mistakes_are_shown_at_once() {
    let case = Case::new(
        "name = \"x\"\n[engine]\nadapter = \"sim\"\nmodel = \"sim\"\n[engine.options]\nttftt = \"1s\"\nitl = 5\n\
         [[scenario]]\nname = \"a\"\n[scenario.dataset]\nadapter = \"jsonl\"\n[scenario.load]\nkind = \"closed\"\n\
         concurrency = 0\n",
    );
    let output = bench_host(["check", &case.workload().display().to_string()]);
    assert_exit(&output, 2);
    let text = stderr(&output);
    for piece in ["ttftt", "itl", "path", "concurrency"] {
        assert!(text.contains(piece), "{piece} in {text}");
    }
}

#[test]
fn bad_files_are_bad_input() {
    let case = Case::new("");
    let folder = case.workload().parent().expect("a folder").to_path_buf();
    std::fs::write(folder.join("latin1.toml"), b"name = \"caf\xe9\"\n").expect("write");
    for (file, says) in [("missing.toml", "No such file"), ("", "is a folder"), ("latin1.toml", "no UTF-8")] {
        let output = bench_host(["check", &folder.join(file).display().to_string()]);
        assert_exit(&output, 2);
        assert!(stderr(&output).contains(says), "{says} in {}", stderr(&output));
    }
    assert_exit(&bench_host(["no-such-command"]), 2);
    assert_exit(&bench_host(["report", &folder.display().to_string()]), 2);
}

#[test]
fn a_plan_shows_the_command_and_contacts_nothing() {
    let case = Case::new(
        "name = \"p\"\n[engine]\nadapter = \"vllm\"\nmodel = \"Qwen/Qwen3-235B-A22B-Instruct-2507-FP8\"\n\
         [engine.options]\ntensor-parallel-size = 4\nmax-num-batched-tokens = 4096\n\
         [[scenario]]\nname = \"a\"\n[scenario.dataset]\nadapter = \"jsonl\"\noptions = { path = \"none.jsonl\" }\n\
         [scenario.load]\nkind = \"burst\"\nrequests = 10\n",
    );
    let output = bench_host(["plan", &case.workload().display().to_string()]);
    assert_exit(&output, 0);
    let command = "vllm serve Qwen/Qwen3-235B-A22B-Instruct-2507-FP8 -tp 4 --max-num-batched-tokens 4096";
    assert!(stdout(&output).lines().any(|l| l == command), "{}", stdout(&output));
}

#[test]
fn samples_are_one_line_a_request() {
    let case = Case::new(&sim_workload("", "kind = \"burst\"\nrequests = 3")).file("prompts.jsonl", &prompts(5, 7));
    let output = bench_host(["samples", &case.workload().display().to_string(), "--text"]);
    assert_exit(&output, 0);
    let lines: Vec<serde_json::Value> =
        stdout(&output).lines().map(|l| serde_json::from_str(l).expect("a JSON line")).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[2]["index"], 2);
    assert_eq!(lines[2]["text"], "Tell me about number 2.");
    assert_eq!(lines[2]["output_tokens"], 7);
    assert_eq!(lines[2]["sha256"].as_str().map(str::len), Some(64));
}

#[test]
fn an_engine_that_does_not_start_is_a_launch_failure() {
    let case =
        Case::new(&sim_workload("", "kind = \"burst\"\nrequests = 3").replace(
            "[engine.options]",
            "[engine.launch]\nprograms = { bench-host = \"/bin/false\" }\n[engine.options]",
        ))
        .file("prompts.jsonl", &prompts(5, 7));
    let output = case.run(&[]);
    assert_exit(&output, 5);
    assert!(stderr(&output).contains("ended before it was ready"), "{}", stderr(&output));
}

#[test]
fn a_folder_that_holds_a_run_is_refused() {
    let case = Case::new(&sim_workload("ttft = \"1ms\"", "kind = \"burst\"\nrequests = 3"))
        .file("prompts.jsonl", &prompts(5, 2));
    assert_exit(&case.run(&[]), 0);
    let again = case.run(&[]);
    assert_exit(&again, 2);
    assert!(stderr(&again).contains("holds a run"), "{}", stderr(&again));
}
