//! The JSON Schema takes what is valid and refuses what is not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use bench_workload::schema;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn workloads(folder: &str) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut all = Vec::new();
    for file in
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "toml"))
    {
        let text = fs::read_to_string(&file).unwrap();
        // An override is no part of the file.
        if let (Ok(value), false) = (toml::from_str(&text), text.contains("#--set")) {
            all.push((file.display().to_string(), value));
        }
    }
    assert!(all.len() > 5);
    all
}

#[test]
fn it_takes_every_valid_file() {
    let schema = schema(&support::engines(), &support::datasets());
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    for (file, value) in workloads("tests/ui/valid") {
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{file}: {errors:#?}");
    }
}

/// What a schema can't say: files whose keys and values are right each by itself.
const BEYOND: &[&str] = &[
    "adapter-unknown",
    "attach-only",
    "attach-urls",
    "attach-no-urls",
    "load-rules",
    "scenario-names",
    "scenario-twice",
    "name",
    "sampling",
];

#[test]
fn it_refuses_what_is_not() {
    let schema = schema(&support::engines(), &support::datasets());
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    for (file, value) in workloads("tests/ui/invalid") {
        if BEYOND.iter().any(|b| file.ends_with(&format!("/{b}.toml"))) {
            continue;
        }
        assert!(!validator.is_valid(&value), "{file}");
    }
}

#[test]
fn it_is_itself_valid() {
    let schema = schema(&support::engines(), &support::datasets());
    assert!(jsonschema::meta::is_valid(&schema));
    assert_eq!(schema["properties"]["scenario"]["minItems"], 1);
    let engine = &schema["properties"]["engine"];
    let sim = engine["allOf"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["if"]["properties"]["adapter"]["const"] == "sim")
        .unwrap();
    let options = &sim["then"]["properties"]["options"]["properties"];
    assert_eq!(options["ttft"]["default"], "50ms");
    assert_eq!(options["kv-cache"]["default"], "16GiB");
}

#[test]
fn the_checked_in_schema_takes_the_examples() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads/workload.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    for (file, mut value) in workloads("workloads") {
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{file}: {errors:#?}");
        value["engine"]["options"]["no-such-option"] = true.into();
        assert!(!validator.is_valid(&value), "{file}: an unknown option is taken");
    }
}
