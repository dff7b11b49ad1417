//! What the adapter makes of some workloads, against golden files. `UPDATE_GOLDEN=1` writes them anew.

use bench_engine_sglang::Sglang;
use bench_sdk::engine::{Engine, LaunchRequest, Prompt, Request};
use bench_sdk::testing::{assert_golden, bodies, launch_request, plan_json, request, settings};
use bench_sdk::{Severity, Value};
use serde_json::json;
use std::path::Path;

fn golden(name: &str, value: &serde_json::Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    assert_golden(&path, value, std::env::var_os("UPDATE_GOLDEN").is_some());
}

#[test]
fn launches() {
    let plan = |launch: &LaunchRequest, values: &[(&str, Value)]| {
        plan_json(&Sglang::launch(launch, &settings::<Sglang>(values)).unwrap())
    };
    let moe: Vec<(&str, Value)> = vec![
        ("tp-size", 8.into()),
        ("dp-size", 8.into()),
        ("ep-size", 8.into()),
        ("enable-dp-attention", true.into()),
        ("moe-a2a-backend", "deepep".into()),
        ("quantization", "fp8".into()),
        ("context-length", 32_768.into()),
        ("mem-fraction-static", 0.85.into()),
        ("kv-cache-dtype", "fp8_e4m3".into()),
        ("disable-radix-cache", true.into()),
        ("max-running-requests", 256.into()),
        ("chunked-prefill-size", (-1).into()),
        ("attention-backend", "fa3".into()),
        ("enable-torch-compile", true.into()),
        ("cuda-graph-max-bs", 512.into()),
        ("tool-call-parser", "deepseekv32".into()),
        ("enable-metrics", true.into()),
    ];
    let eagle: Vec<(&str, Value)> = vec![
        ("speculative-algorithm", "EAGLE3".into()),
        ("speculative-draft-model-path", "Tengyunw/qwen3_8b_eagle3".into()),
        ("speculative-num-steps", 4.into()),
        ("speculative-eagle-topk", 4.into()),
        ("speculative-num-draft-tokens", 16.into()),
    ];
    golden(
        "launch.json",
        &json!({
            "nothing set": plan(&launch_request("Qwen/Qwen3-32B", 1), &[]),
            "mixture of experts": plan(&launch_request("deepseek-ai/DeepSeek-V3.2", 8), &moe),
            "speculative": plan(&launch_request("Qwen/Qwen3-8B", 1), &eagle),
        }),
    );
}

#[test]
fn requests() {
    let exact = Request { min_tokens: Some(16), ignore_eos: true, ..request(Prompt::Text("Hello".to_owned())) };
    let completions = settings::<Sglang>(&[("api", "completions".into())]);
    golden(
        "requests.json",
        &json!({
            "chat": bodies::<Sglang>(&settings::<Sglang>(&[]), vec![exact.clone()]).unwrap(),
            "completions": bodies::<Sglang>(&completions, vec![exact]).unwrap(),
        }),
    );
}

#[test]
fn contradictions_are_found() {
    let check = |devices, values: &[(&str, Value)]| {
        let found = Sglang::check(&launch_request("m", devices), &settings::<Sglang>(values));
        found.into_iter().map(|d| (d.severity, d.key.unwrap_or_default())).collect::<Vec<_>>()
    };
    let sizes = [("tp-size", Value::from(8)), ("dp-size", 8.into()), ("enable-dp-attention", true.into())];
    assert_eq!(check(8, &sizes), [], "data parallel attention shares the devices");
    assert_eq!(check(8, &sizes[..2]), [(Severity::Error, "tp-size".to_owned())], "copies don't");
    let uneven = [("tp-size", Value::from(8)), ("dp-size", 3.into()), ("enable-dp-attention", true.into())];
    assert_eq!(check(8, &uneven), [(Severity::Error, "dp-size".to_owned())]);
    assert_eq!(check(0, &[("speculative-draft-model-path", "d".into())]).len(), 1);
}

#[test]
fn attaching_sends_no_inference_request() {
    let server = Sglang::server(&settings::<Sglang>(&[])).unwrap();
    assert_eq!(server.ready, "/v1/models", "its health check generates a token");
    assert!(server.metrics.is_empty(), "it offers none unasked");
    assert_eq!(Sglang::server(&settings::<Sglang>(&[("enable-metrics", true.into())])).unwrap().metrics.len(), 1);
}

#[test]
fn the_engine_knows_every_option() {
    let known: Vec<&str> = include_str!("data/options.txt").lines().collect();
    let settings = Sglang::describe().settings;
    let options: Vec<String> = settings.into_iter().filter_map(|setting| setting.engine_option).collect();
    assert!(options.len() > 40, "{options:?}");
    let unknown: Vec<&String> = options.iter().filter(|option| !known.contains(&option.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
