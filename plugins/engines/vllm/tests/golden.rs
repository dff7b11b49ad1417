//! What the adapter makes of some workloads, against golden files. `UPDATE_GOLDEN=1` writes them anew.

use bench_engine_vllm::Vllm;
use bench_sdk::engine::{Engine, LaunchRequest, Model, Prompt, Request, Sampling};
use bench_sdk::testing::{assert_golden, bodies, launch_request, plan_json, request, settings};
use bench_sdk::{Severity, Value};
use serde_json::json;
use std::path::Path;

fn golden(name: &str, value: &serde_json::Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    assert_golden(&path, value, std::env::var_os("UPDATE_GOLDEN").is_some());
}

fn plan(launch: &LaunchRequest, values: &[(&str, Value)]) -> serde_json::Value {
    plan_json(&Vllm::launch(launch, &settings::<Vllm>(values)).expect("the settings make a plan"))
}

#[test]
fn launches() {
    let local = LaunchRequest {
        model: Model {
            name: "Qwen/Qwen3-32B".to_owned(),
            location: "/models/qwen3-32b".to_owned(),
            revision: Some("9216db5781bf".to_owned()),
            served_as: "qwen".to_owned(),
        },
        host: "0.0.0.0".to_owned(),
        ..launch_request("", 8)
    };
    let many: Vec<(&str, Value)> = vec![
        ("tensor-parallel-size", 2.into()),
        ("pipeline-parallel-size", 2.into()),
        ("data-parallel-size", 2.into()),
        ("enable-expert-parallel", true.into()),
        ("quantization", "fp8".into()),
        ("dtype", "bfloat16".into()),
        ("load-format", "dummy".into()),
        ("max-model-len", 32_768.into()),
        ("gpu-memory-utilization", 0.9.into()),
        ("kv-cache-dtype", "fp8_e4m3".into()),
        ("enable-prefix-caching", false.into()),
        ("max-num-batched-tokens", 16_384.into()),
        ("max-num-seqs", 512.into()),
        ("enable-chunked-prefill", true.into()),
        ("async-scheduling", true.into()),
        ("speculative-config", r#"{"method": "mtp", "num_speculative_tokens": 1}"#.into()),
        ("attention-backend", "FLASHINFER".into()),
        ("cudagraph-capture-sizes", Value::TextList(vec!["1".to_owned(), "8".to_owned()])),
        ("performance-mode", "throughput".into()),
        ("reasoning-parser", "qwen3".into()),
    ];
    golden(
        "launch.json",
        &json!({
            "nothing set": plan(&launch_request("Qwen/Qwen3-32B", 1), &[]),
            "sizes of one": plan(&launch_request("Qwen/Qwen3-32B", 1), &[("tensor-parallel-size", 1.into())]),
            "local model, many options": plan(&local, &many),
        }),
    );
}

#[test]
fn requests() {
    let exact = Request {
        min_tokens: Some(16),
        ignore_eos: true,
        sampling: Sampling { temperature: 0.6, top_p: Some(0.95), top_k: Some(20), seed: Some(1) },
        ..request(Prompt::Tokens(vec![9707, 1879]))
    };
    let chat = settings::<Vllm>(&[]);
    let completions = settings::<Vllm>(&[("api", "completions".into()), ("continuous-usage", false.into())]);
    golden(
        "requests.json",
        &json!({
            "chat": bodies::<Vllm>(&chat, vec![request(Prompt::Text("Hello".to_owned()))]).unwrap(),
            "completions": bodies::<Vllm>(&completions, vec![exact, request(Prompt::Text("Hello".to_owned()))]).unwrap(),
        }),
    );
}

#[test]
fn contradictions_are_found() {
    let check = |devices, values: &[(&str, Value)]| {
        let found = Vllm::check(&launch_request("m", devices), &settings::<Vllm>(values));
        found.into_iter().map(|d| (d.severity, d.key.unwrap_or_default())).collect::<Vec<_>>()
    };
    let tp = |n: i64| ("tensor-parallel-size", Value::from(n));
    assert_eq!(check(0, &[tp(8)]), [], "no devices are set aside: nothing to compare with");
    assert_eq!(check(8, &[tp(8)]), []);
    assert_eq!(check(4, &[tp(8)]), [(Severity::Error, "tensor-parallel-size".to_owned())]);
    assert_eq!(check(8, &[tp(4), ("data-parallel-size", 4.into())]).len(), 1);
    assert_eq!(check(8, &[tp(4)]), [(Severity::Warning, "tensor-parallel-size".to_owned())]);
    let batch = [
        ("max-num-batched-tokens", Value::from(2048)),
        ("max-model-len", 4096.into()),
        ("enable-chunked-prefill", false.into()),
    ];
    assert_eq!(check(1, &batch), [(Severity::Error, "max-num-batched-tokens".to_owned())]);
    assert_eq!(check(1, &batch[..2]), []);
    assert_eq!(check(1, &[("enable-auto-tool-choice", true.into())]).len(), 1);
}

#[test]
fn metrics_go_with_the_statistics() {
    assert_eq!(Vllm::server(&settings::<Vllm>(&[])).unwrap().metrics.len(), 1);
    assert!(Vllm::server(&settings::<Vllm>(&[("disable-log-stats", true.into())])).unwrap().metrics.is_empty());
}

#[test]
fn the_engine_knows_every_option() {
    let known: Vec<&str> = include_str!("data/options.txt").lines().collect();
    let settings = Vllm::describe().settings;
    let options: Vec<String> = settings.into_iter().filter_map(|setting| setting.engine_option).collect();
    assert!(options.len() > 40, "{options:?}");
    let unknown: Vec<&String> = options.iter().filter(|option| !known.contains(&option.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
