//! A real llama.cpp server with real models: launched, warmed, measured, stopped; and a model whose text is known.

mod common;

use bench_core::decode::EventKind;
use bench_core::outcome::Outcome;
use bench_core::record::{Phase, RequestRecord, TokenSource};
use common::{Case, assert_exit, bench_host, cached, processes_with, stderr, stdout};
use std::path::Path;

fn engine(model: &Path, alias: &str, options: &str) -> String {
    format!(
        "[engine]\nadapter = \"llama-cpp\"\nmodel = \"{alias}\"\nmodel-path = \"{}\"\n\
         [engine.options]\nctx-size = 8192\nparallel = 4\nthreads = 1\nthreads-batch = 1\ncache-prompt = false\n{options}\n\
         [engine.launch]\nready-timeout = \"5m\"\nprograms = {{ llama-server = \"{}\" }}\n",
        model.display(),
        cached("bin/llama-server").display()
    )
}

/// The server's own counters, as they stood before it was stopped.
fn counter(metrics: &str, name: &str) -> u64 {
    let line = metrics.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' ')).expect(name);
    line.trim().parse::<f64>().expect("a number") as u64
}

/// The measured attempts of a scenario that reached the server. It closes its connections without a word, so some may
/// have found theirs closed and were sent again.
fn measured<'a>(rows: &'a [RequestRecord], scenario: &str) -> Vec<&'a RequestRecord> {
    let reached = |r: &&RequestRecord| {
        r.phase == Phase::Measure && &*r.scenario == scenario && r.outcome != Outcome::StaleConnection
    };
    rows.iter().filter(reached).collect()
}

fn assert_counts_are_the_servers(case: &Case, rows: &[RequestRecord]) {
    let metrics = std::fs::read_to_string(case.out().join("metrics-0.txt")).expect("the engine's metrics");
    let sum = |of: fn(&RequestRecord) -> Option<u32>| -> u64 { rows.iter().filter_map(of).map(u64::from).sum() };
    assert_eq!(sum(|r| r.output_tokens), counter(&metrics, "llamacpp:tokens_predicted_total"));
    assert_eq!(sum(|r| r.prompt_tokens) - sum(|r| r.cached_tokens), counter(&metrics, "llamacpp:prompt_tokens_total"));
}

#[test]
fn sharegpt_closed_and_poisson() {
    let model = cached("models/SmolLM2-135M-Instruct.Q4_1.gguf");
    let dataset = format!(
        "adapter = \"sharegpt\"\noptions = {{ path = \"{}\", sampler = \"dialogue\", output-len = 32 }}",
        cached("sharegpt/sharegpt_prefix17671.json").display()
    );
    let case = Case::new(&format!(
        "name = \"real\"\n{}[tokenizer]\npath = \"{}\"\n\
         [[scenario]]\nname = \"closed\"\n[scenario.dataset]\n{dataset}\n[scenario.sampling]\nignore-eos = true\n\
         [scenario.warmup]\nrequests = 4\n[scenario.load]\nkind = \"closed\"\nconcurrency = 4\nrequests = 64\n\
         [[scenario]]\nname = \"poisson\"\n[scenario.dataset]\n{dataset}\n[scenario.warmup]\nrequests = 0\n\
         [scenario.load]\nkind = \"poisson\"\nrate = 0.4\nduration = \"60s\"\n",
        engine(&model, "smollm2", ""),
        cached("tokenizer-smollm2/tokenizer.json").display(),
    ));
    let run = case.run(&[]);
    assert_exit(&run, 0);
    let rows = case.rows();
    let of = |name: &str| measured(&rows, name);
    assert_eq!(of("closed").len(), 64);
    assert!(of("poisson").len() > 8, "{} arrivals", of("poisson").len());
    assert!(rows.iter().all(|r| !r.outcome.is_failure()), "{}", stdout(&run));
    assert!(of("closed").iter().all(|r| r.output_tokens == Some(32)));
    assert!(of("closed").iter().all(|r| r.token_source == Some(TokenSource::Usage)));
    assert_eq!(rows.iter().filter(|r| r.phase == Phase::Warmup).count(), 4);
    assert_counts_are_the_servers(&case, &rows);
    let left = processes_with(&case.out().display().to_string());
    assert!(left.is_empty(), "left over: {left:?}");
    assert!(processes_with(&model.display().to_string()).is_empty(), "the server is still there");
    let engine = &case.json("run.json")["engine"];
    assert_eq!(engine["models"][0], "smollm2", "{engine:#}");
}

#[test]
fn a_known_text_is_what_the_trace_says() {
    let facts = std::fs::read_to_string(cached("models/scripted.json")).expect("read the script");
    let facts: serde_json::Value = serde_json::from_str(&facts).expect("it is JSON");
    let case = Case::new(&format!(
        "name = \"known\"\n{}[trace]\ntext = true\n\
         [[scenario]]\nname = \"to-its-end\"\n[scenario.dataset]\nadapter = \"jsonl\"\n\
         options = {{ path = \"prompts.jsonl\" }}\n[scenario.sampling]\nmax-tokens = 200\n[scenario.warmup]\nrequests = 0\n\
         [scenario.load]\nkind = \"closed\"\nconcurrency = 2\nrequests = 6\n\
         [[scenario]]\nname = \"cut\"\n[scenario.dataset]\nadapter = \"jsonl\"\n\
         options = {{ path = \"prompts.jsonl\" }}\n[scenario.sampling]\nmax-tokens = 24\n[scenario.warmup]\nrequests = 0\n\
         [scenario.load]\nkind = \"closed\"\nconcurrency = 1\nrequests = 2\n\
         [[scenario]]\nname = \"one-shot\"\n[scenario.dataset]\nadapter = \"jsonl\"\n\
         options = {{ path = \"prompts.jsonl\" }}\n[scenario.sampling]\nmax-tokens = 200\nstream = false\n\
         [scenario.warmup]\nrequests = 0\n[scenario.load]\nkind = \"closed\"\nconcurrency = 1\nrequests = 2\n",
        engine(&cached("models/scripted.gguf"), "scripted", "reasoning-format = \"deepseek\""),
    ))
    .file("prompts.jsonl", &common::prompts(6, 200));
    let run = case.run(&[]);
    assert!(run.status.success() || run.status.code() == Some(3), "{}{}", stdout(&run), stderr(&run));
    let rows = case.rows();
    let of = |name: &str| measured(&rows, name);
    assert_eq!((of("to-its-end").len(), of("cut").len(), of("one-shot").len()), (6, 2, 2));
    let tokens = facts["tokens"].as_u64().expect("a number") as u32;
    for row in of("to-its-end") {
        assert_eq!(row.outcome, Outcome::Complete);
        assert_eq!(row.finish_reason.as_deref(), Some("stop"));
        assert_eq!(row.output_text.as_deref(), facts["answer"].as_str());
        assert_eq!(row.reasoning_text.as_deref(), facts["reasoning"].as_str());
        assert_eq!(row.output_tokens, Some(tokens));
        let events = row.events.as_ref().expect("streamed");
        // Pieces of one character come in one event, and the marks of the reasoning in none.
        let content = events.kind.iter().filter(|k| k.is_content()).count();
        assert_eq!(content, 53);
        assert_eq!(events.kind.iter().filter(|k| **k == EventKind::Role).count(), 1);
    }
    for row in of("cut") {
        assert_eq!((row.outcome, row.finish_reason.as_deref()), (Outcome::Complete, Some("length")));
        assert_eq!(row.output_tokens, Some(24));
    }
    for row in of("one-shot") {
        assert_eq!(row.outcome, Outcome::Complete);
        assert_eq!(row.output_text.as_deref(), facts["answer"].as_str());
        assert_eq!((row.output_tokens, row.first_token, row.last_token), (Some(tokens), None, None));
        assert!(row.events.is_none());
    }
    assert_counts_are_the_servers(&case, &rows);
    let report = bench_host(["report", &case.out().display().to_string()]);
    assert_exit(&report, 0);
}
