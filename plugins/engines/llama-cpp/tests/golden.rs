//! What the adapter makes of some workloads, against golden files. `UPDATE_GOLDEN=1` writes them anew.

use bench_engine_llama_cpp::LlamaCpp;
use bench_sdk::engine::{Engine, LaunchRequest, Model, Prompt, Request};
use bench_sdk::testing::{assert_golden, bodies, launch_request, plan_json, request, settings};
use bench_sdk::{Error, Severity, Value};
use serde_json::json;
use std::path::Path;

fn golden(name: &str, value: &serde_json::Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    assert_golden(&path, value, std::env::var_os("UPDATE_GOLDEN").is_some());
}

fn plan(launch: &LaunchRequest, values: &[(&str, Value)]) -> serde_json::Value {
    plan_json(&LlamaCpp::launch(launch, &settings::<LlamaCpp>(values)).expect("the settings make a plan"))
}

#[test]
fn launches() {
    let file = LaunchRequest {
        model: Model {
            name: "smollm2".to_owned(),
            location: "/models/SmolLM2-135M-Instruct.Q4_1.gguf".to_owned(),
            revision: None,
            served_as: "smollm2".to_owned(),
        },
        ..launch_request("", 0)
    };
    let many: Vec<(&str, Value)> = vec![
        ("ctx-size", 8192.into()),
        ("parallel", 4.into()),
        ("threads", 1.into()),
        ("threads-batch", 1.into()),
        ("batch-size", 2048.into()),
        ("ubatch-size", 512.into()),
        ("n-gpu-layers", 0.into()),
        ("flash-attn", "auto".into()),
        ("cache-type-k", "q8_0".into()),
        ("cache-type-v", "q8_0".into()),
        ("cache-prompt", false.into()),
        ("jinja", true.into()),
        ("reasoning-format", "deepseek".into()),
        ("metrics", false.into()),
    ];
    golden(
        "launch.json",
        &json!({
            "file": plan(&file, &[]),
            "file, many options": plan(&file, &many),
            "repository": plan(&launch_request("ggml-org/SmolLM3-3B-GGUF:Q4_K_M", 0), &[]),
        }),
    );
}

#[test]
fn requests() {
    let exact = Request { ignore_eos: true, ..request(Prompt::Text("Hello".to_owned())) };
    let completions = settings::<LlamaCpp>(&[("api", "completions".into())]);
    golden(
        "requests.json",
        &json!({
            "chat": bodies::<LlamaCpp>(&settings::<LlamaCpp>(&[]), vec![exact.clone()]).unwrap(),
            "completions": bodies::<LlamaCpp>(&completions, vec![exact]).unwrap(),
        }),
    );
}

#[test]
fn it_has_no_least_length() {
    let least = Request { min_tokens: Some(1), ..request(Prompt::Text("Hello".to_owned())) };
    let error = bodies::<LlamaCpp>(&settings::<LlamaCpp>(&[]), vec![least]);
    assert!(matches!(error, Err(Error::Unsupported(_))));
}

#[test]
fn contradictions_are_found() {
    let check = |devices, values: &[(&str, Value)]| {
        let found = LlamaCpp::check(&launch_request("m", devices), &settings::<LlamaCpp>(values));
        found.into_iter().map(|d| (d.severity, d.key.unwrap_or_default())).collect::<Vec<_>>()
    };
    let sizes = [("batch-size", Value::from(256)), ("ubatch-size", 512.into())];
    assert_eq!(check(0, &sizes), [(Severity::Warning, "ubatch-size".to_owned())]);
    assert_eq!(check(1, &[("n-gpu-layers", 0.into())]).len(), 1);
    assert_eq!(check(0, &[("n-gpu-layers", 0.into())]), []);
    assert_eq!(check(0, &[("draft-max", 4.into())]).len(), 1);
}
