//! The command lines of the founding studies come out of settings.

use bench_engine_vllm::Vllm;
use bench_sdk::Value;
use bench_sdk::engine::Engine;
use bench_sdk::testing::{command_line, launch_request, settings};
use std::path::Path;

/// Model, devices of the replica, settings.
type Asked = (&'static str, u32, Vec<(&'static str, Value)>);

/// The settings that make a study's command.
fn asked(command: &str) -> Option<Asked> {
    let study = match command {
        "vllm serve Qwen/Qwen3-32B" => ("Qwen/Qwen3-32B", 1, vec![]),
        "vllm serve Qwen/Qwen3-235B-A22B-Instruct-2507 -tp 8" => {
            ("Qwen/Qwen3-235B-A22B-Instruct-2507", 8, vec![("tensor-parallel-size", 8.into())])
        }
        "vllm serve Qwen/Qwen3-235B-A22B-Instruct-2507-FP8 -tp 8 --enable-expert-parallel" => (
            "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8",
            8,
            vec![("tensor-parallel-size", 8.into()), ("enable-expert-parallel", true.into())],
        ),
        "vllm serve Qwen/Qwen3-235B-A22B-Instruct-2507-FP8 -tp 4" => {
            ("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", 4, vec![("tensor-parallel-size", 4.into())])
        }
        "vllm serve Qwen/Qwen3-235B-A22B-Instruct-2507-FP8 -tp 4 --enable-expert-parallel" => (
            "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8",
            4,
            vec![("tensor-parallel-size", 4.into()), ("enable-expert-parallel", true.into())],
        ),
        "vllm serve Qwen/Qwen3-235B-A22B-Instruct-2507-FP8 -tp 4 --max-num-batched-tokens 4096" => (
            "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8",
            4,
            vec![("tensor-parallel-size", 4.into()), ("max-num-batched-tokens", 4096.into())],
        ),
        "vllm serve Qwen/Qwen3-235B-A22B-Instruct-2507-FP8 -tp 4 --max-num-batched-tokens 8192" => (
            "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8",
            4,
            vec![("tensor-parallel-size", 4.into()), ("max-num-batched-tokens", 8192.into())],
        ),
        _ => return None,
    };
    Some(study)
}

#[test]
fn every_command_of_the_studies() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/seeds/results.json");
    let blocks: Vec<serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut seen = 0;
    for block in blocks.iter().filter(|block| block["engine"] == "vllm") {
        let command = block["command"].as_str().unwrap();
        let Some((model, devices, values)) = asked(command) else { panic!("no settings for `{command}`") };
        let plan = Vllm::launch(&launch_request(model, devices), &settings::<Vllm>(&values)).unwrap();
        assert_eq!(command_line(&plan), command);
        assert!(Vllm::check(&launch_request(model, devices), &settings::<Vllm>(&values)).is_empty(), "{command}");
        seen += 1;
    }
    assert_eq!(seen, 19, "blocks of the two studies");
}
