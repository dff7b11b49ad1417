//! What the adapter makes of some workloads, against golden files. `UPDATE_GOLDEN=1` writes them anew.

use bench_engine_tensorrt_llm::TensorRtLlm;
use bench_sdk::engine::{Engine, LaunchRequest, Prompt, Request};
use bench_sdk::testing::{assert_golden, bodies, launch_request, plan_json, request, settings};
use bench_sdk::{Error, Severity, Value};
use serde_json::json;
use std::path::Path;

fn golden(name: &str, value: &serde_json::Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    assert_golden(&path, value, std::env::var_os("UPDATE_GOLDEN").is_some());
}

#[test]
fn launches() {
    let plan = |launch: &LaunchRequest, values: &[(&str, Value)]| {
        plan_json(&TensorRtLlm::launch(launch, &settings::<TensorRtLlm>(values)).unwrap())
    };
    let command: Vec<(&str, Value)> = vec![
        ("tp-size", 8.into()),
        ("ep-size", 8.into()),
        ("max-batch-size", 512.into()),
        ("max-num-tokens", 16_384.into()),
        ("kv-cache-free-gpu-memory-fraction", 0.85.into()),
        ("trust-remote-code", true.into()),
    ];
    let file: Vec<(&str, Value)> = vec![
        ("tp-size", 2.into()),
        ("kv-cache-free-gpu-memory-fraction", 0.85.into()),
        ("kv-cache-dtype", "fp8".into()),
        ("enable-block-reuse", false.into()),
        ("quantization", "FP8".into()),
        ("attn-backend", "FLASHINFER".into()),
        ("moe-backend", "DEEPGEMM".into()),
        ("enable-attention-dp", true.into()),
        ("cuda-graph-max-batch-size", 512.into()),
        ("cuda-graph-enable-padding", true.into()),
        ("speculative-config", r#"{"decoding_type": "MTP", "num_nextn_predict_layers": 1}"#.into()),
    ];
    golden(
        "launch.json",
        &json!({
            "nothing set": plan(&launch_request("Qwen/Qwen3-32B", 1), &[]),
            "options of the command": plan(&launch_request("deepseek-ai/DeepSeek-R1-0528", 8), &command),
            "options of the file": plan(&launch_request("Qwen/Qwen3-30B-A3B", 2), &file),
        }),
    );
}

#[test]
fn requests() {
    let exact = Request { min_tokens: Some(16), ignore_eos: true, ..request(Prompt::Text("Hello".to_owned())) };
    let chat = settings::<TensorRtLlm>(&[]);
    golden("requests.json", &json!({ "chat": bodies::<TensorRtLlm>(&chat, vec![exact]).unwrap() }));
}

#[test]
fn contradictions_are_found() {
    let check = |devices, values: &[(&str, Value)]| {
        let found = TensorRtLlm::check(&launch_request("m", devices), &settings::<TensorRtLlm>(values));
        found.into_iter().map(|d| (d.severity, d.key.unwrap_or_default())).collect::<Vec<_>>()
    };
    assert_eq!(check(1, &[("tp-size", 2.into())]), [(Severity::Error, "tp-size".to_owned())]);
    let long = [("max-num-tokens", Value::from(8192)), ("max-seq-len", 40_960.into())];
    assert_eq!(check(1, &long), [(Severity::Warning, "max-num-tokens".to_owned())]);
    let broken = [("speculative-config", Value::from("MTP"))];
    assert_eq!(check(1, &broken), [(Severity::Error, "speculative-config".to_owned())]);
    let launch = TensorRtLlm::launch(&launch_request("m", 1), &settings::<TensorRtLlm>(&broken));
    assert!(matches!(launch, Err(Error::InvalidSettings(_))));
}
