//! CPU seconds of drawing samples, by the program as users run it: process start, adapters (compiled before), tokenizer,
//! data and all. Machines differ, so the limit is a ratio in one run: to the tokenizer work of `vllm bench serve` for
//! 500 random prompts of 4000 tokens, done by the library that it uses. Where that tool takes 12.9 s, 2 s is the limit.
//!
//!     cargo bench -p bench-tests --bench sampling

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Case, assert_exit, bench_host, cached};
use std::process::Command;

/// Share of the tool's own CPU time that a case may take.
const SHARE: f64 = 2.0 / 12.9;

/// CPU seconds of all children that were waited for.
fn children() -> f64 {
    // SAFETY: all-zero is a valid value of this plain structure, which the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// CPU seconds of the same work in Python.
fn python() -> f64 {
    let before = children();
    let output = Command::new(cached("venv/bin/python"))
        .arg(common::root().join("tests/python/encode_random.py"))
        .arg(cached("tokenizer-qwen3/tokenizer.json"))
        .env("TOKENIZERS_PARALLELISM", "false")
        .output()
        .expect("run Python");
    assert_exit(&output, 0);
    let seconds = children() - before;
    println!("{:<40} {seconds:.2} CPU s", "the tool's tokenizer work");
    seconds
}

fn measure(name: &str, dataset: &str, requests: u32, limit: f64) -> bool {
    let case = Case::new(&format!(
        "name = \"b\"\n[engine]\nadapter = \"sim\"\nmodel = \"sim\"\n[tokenizer]\npath = \"{}\"\n[seeds]\nsamples = 42\n\
         [[scenario]]\nname = \"s\"\n[scenario.dataset]\n{dataset}\n[scenario.load]\nkind = \"burst\"\nrequests = {requests}\n",
        cached("tokenizer-qwen3/tokenizer.json").display()
    ));
    let mut runs: Vec<f64> = (0..5)
        .map(|_| {
            let before = children();
            assert_exit(&bench_host(["samples", &case.workload().display().to_string()]), 0);
            children() - before
        })
        .collect();
    runs.sort_by(f64::total_cmp);
    println!("{name:<40} {:.2} CPU s (median of 5; least {:.2}, limit {limit:.2})", runs[2], runs[0]);
    runs[2] < limit
}

fn main() {
    let sharegpt = cached("sharegpt/sharegpt_prefix17671.json");
    let sharegpt = format!("adapter = \"sharegpt\"\noptions = {{ path = \"{}\" }}", sharegpt.display());
    let random = |sampler: &str| {
        format!("adapter = \"random\"\noptions = {{ input-len = 4000, output-len = 200, sampler = \"{sampler}\" }}")
    };
    let limit = python() * SHARE;
    let met = [
        measure("sharegpt, 125 MB, 1000 prompts", &sharegpt, 1000, limit),
        measure("random 4000/200, 500, vllm-0.11", &random("vllm-0.11"), 500, limit),
        measure("random 4000/200, 500, vllm-0.33", &random("vllm-0.33"), 500, limit),
        measure("random 4000/200, 500, exact", &random("exact"), 500, limit),
    ];
    assert!(met.iter().all(|m| *m), "a case takes {limit:.2} CPU seconds or more");
}
