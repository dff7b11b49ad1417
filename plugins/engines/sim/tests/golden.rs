//! What the adapter makes of some workloads, against golden files. `UPDATE_GOLDEN=1` writes them anew.

use bench_engine_sim::Sim;
use bench_sdk::Value;
use bench_sdk::engine::{Engine, Prompt, Request};
use bench_sdk::testing::{assert_golden, bodies, launch_request, plan_json, request, settings};
use serde_json::json;
use std::path::Path;

fn golden(name: &str, value: &serde_json::Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    assert_golden(&path, value, std::env::var_os("UPDATE_GOLDEN").is_some());
}

#[test]
fn launches() {
    let plan = |values: &[(&str, Value)]| {
        plan_json(&Sim::launch(&launch_request("sim", 0), &settings::<Sim>(values)).unwrap())
    };
    let faults = ["reset:every=10,after=5", "status:every=7,code=503"].map(str::to_owned).to_vec();
    let many: Vec<(&str, Value)> = vec![
        ("ttft", 50.into()),
        ("ttft-jitter", 5.into()),
        ("itl", 10.into()),
        ("itl-jitter", 1.into()),
        ("step", "sync".into()),
        ("max-num-seqs", 32.into()),
        ("prefill-rate", 20_000.0.into()),
        ("seed", 7.into()),
        ("tokens-per-chunk", 4.into()),
        ("reasoning-tokens", 8.into()),
        ("usage", "with-finish".into()),
        ("keep-alive", "close-after-stream".into()),
        ("gzip", true.into()),
        ("fault", Value::TextList(faults)),
    ];
    golden("launch.json", &json!({ "nothing set": plan(&[]), "many options": plan(&many) }));
}

#[test]
fn requests() {
    let exact = Request { ignore_eos: true, ..request(Prompt::Text("Hello".to_owned())) };
    golden("requests.json", &json!({ "chat": bodies::<Sim>(&settings::<Sim>(&[]), vec![exact]).unwrap() }));
}

#[test]
fn a_jitter_wider_than_its_time_is_refused() {
    let check = |values: &[(&str, Value)]| Sim::check(&launch_request("sim", 0), &settings::<Sim>(values)).len();
    assert_eq!(check(&[("ttft-jitter", 50.into()), ("itl-jitter", 10.into())]), 0);
    assert_eq!(check(&[("ttft-jitter", 51.into()), ("itl-jitter", 11.into())]), 2);
    assert_eq!(check(&[("ttft-jitter", 51.into()), ("ttft", 60.into())]), 0);
}
