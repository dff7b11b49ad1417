//! The command lines of the founding studies come out of settings.

use bench_engine_sglang::Sglang;
use bench_sdk::Value;
use bench_sdk::engine::Engine;
use bench_sdk::testing::{command_line, launch_request, settings};
use std::path::Path;

/// Model, devices of the replica, settings.
type Asked = (&'static str, u32, Vec<(&'static str, Value)>);

/// The settings that make a study's command.
fn asked(command: &str) -> Option<Asked> {
    let study = match command {
        "python3 -m sglang.launch_server --model-path Qwen/Qwen3-32B" => ("Qwen/Qwen3-32B", 1, vec![]),
        "python3 -m sglang.launch_server --model-path Qwen/Qwen3-235B-A22B-Instruct-2507 --tp-size 8" => {
            ("Qwen/Qwen3-235B-A22B-Instruct-2507", 8, vec![("tp-size", 8.into())])
        }
        _ => return None,
    };
    Some(study)
}

#[test]
fn every_command_of_the_studies() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/seeds/results.json");
    let blocks: Vec<serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut seen = 0;
    for block in blocks.iter().filter(|block| block["engine"] == "sglang") {
        let command = block["command"].as_str().unwrap();
        let Some((model, devices, values)) = asked(command) else { panic!("no settings for `{command}`") };
        let plan = Sglang::launch(&launch_request(model, devices), &settings::<Sglang>(&values)).unwrap();
        assert_eq!(command_line(&plan), command);
        assert!(Sglang::check(&launch_request(model, devices), &settings::<Sglang>(&values)).is_empty(), "{command}");
        seen += 1;
    }
    assert_eq!(seen, 2, "blocks of the two studies");
}
