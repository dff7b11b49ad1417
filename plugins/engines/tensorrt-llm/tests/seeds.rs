//! The command lines of the founding studies come out of settings.

use bench_engine_tensorrt_llm::TensorRtLlm;
use bench_sdk::Value;
use bench_sdk::engine::Engine;
use bench_sdk::testing::{command_line, launch_request, settings};
use std::path::Path;

/// Model, devices of the replica, settings.
type Asked = (&'static str, u32, Vec<(&'static str, Value)>);

/// The settings that make a study's command.
fn asked(command: &str) -> Option<Asked> {
    let study = match command {
        "trtllm-serve Qwen/Qwen3-32B" => ("Qwen/Qwen3-32B", 1, vec![]),
        "trtllm-serve Qwen/Qwen3-32B-FP8" => ("Qwen/Qwen3-32B-FP8", 1, vec![]),
        "trtllm-serve Qwen/Qwen3-32B-FP8 --max_seq_len=40960 --enable_chunked_prefill" => {
            ("Qwen/Qwen3-32B-FP8", 1, vec![("max-seq-len", 40960.into()), ("enable-chunked-prefill", true.into())])
        }
        _ => return None,
    };
    Some(study)
}

/// One block's page prints another engine's command; by its heading and the next step it is this one.
fn right(command: &str) -> &str {
    if command.starts_with("(the page prints an SGLang command here") {
        "trtllm-serve Qwen/Qwen3-32B-FP8"
    } else {
        command
    }
}

#[test]
fn every_command_of_the_studies() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/seeds/results.json");
    let blocks: Vec<serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut seen = 0;
    for block in blocks.iter().filter(|block| block["engine"] == "tensorrt-llm") {
        let command = right(block["command"].as_str().unwrap());
        let Some((model, devices, values)) = asked(command) else { panic!("no settings for `{command}`") };
        let plan = TensorRtLlm::launch(&launch_request(model, devices), &settings::<TensorRtLlm>(&values)).unwrap();
        assert_eq!(command_line(&plan), command);
        assert!(
            TensorRtLlm::check(&launch_request(model, devices), &settings::<TensorRtLlm>(&values)).is_empty(),
            "{command}"
        );
        seen += 1;
    }
    assert_eq!(seen, 7, "blocks of the two studies");
}
