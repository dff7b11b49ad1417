//! CPU seconds of drawing samples, by the program as users run it: process start, adapters (compiled before), tokenizer,
//! data and all. Prints a line for each case and fails where one takes 2 seconds or more.
//!
//!     cargo bench -p bench-tests --bench sampling

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Case, assert_exit, bench_host, cached};

const LIMIT: f64 = 2.0;

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

fn measure(name: &str, dataset: &str, requests: u32) -> bool {
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
    println!("{name:<40} {:.2} CPU s (median of 5; least {:.2}, limit {LIMIT})", runs[2], runs[0]);
    runs[2] < LIMIT
}

fn main() {
    let sharegpt = cached("sharegpt/sharegpt_prefix17671.json");
    let sharegpt = format!("adapter = \"sharegpt\"\noptions = {{ path = \"{}\" }}", sharegpt.display());
    let random = |sampler: &str| {
        format!("adapter = \"random\"\noptions = {{ input-len = 4000, output-len = 200, sampler = \"{sampler}\" }}")
    };
    let met = [
        measure("sharegpt, 125 MB, 1000 prompts", &sharegpt, 1000),
        measure("random 4000/200, 500, vllm-0.11", &random("vllm-0.11"), 500),
        measure("random 4000/200, 500, vllm-0.33", &random("vllm-0.33"), 500),
        measure("random 4000/200, 500, exact", &random("exact"), 500),
    ];
    assert!(met.iter().all(|m| *m), "a case takes {LIMIT} CPU seconds or more");
}
