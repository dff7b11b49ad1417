//! The one-way order of the crates, and the repository's shape, as assertions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ has a parent").to_path_buf()
}

fn metadata() -> serde_json::Value {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("run cargo metadata");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("cargo metadata prints JSON")
}

/// Which of our crates each of our crates may use. Development dependencies are tests' business.
fn allowed(name: &str) -> BTreeSet<&'static str> {
    let list: &[&str] = match name {
        "bench-core" | "bench-sdk" | "bench-bindgen" | "bench-limit" => &[],
        "bench-workload" | "bench-plugin" | "bench-launch" | "bench-load" | "bench-telemetry" | "bench-trace"
        | "bench-sim" => &["bench-core"],
        "bench-report" => &["bench-core", "bench-trace"],
        "bench-study" => &["bench-core", "bench-report", "bench-workload"],
        "bench-host" => &[
            "bench-core",
            "bench-workload",
            "bench-plugin",
            "bench-launch",
            "bench-load",
            "bench-telemetry",
            "bench-trace",
            "bench-report",
            "bench-study",
            "bench-sim",
        ],
        n if n.starts_with("bench-engine-") || n.starts_with("bench-dataset-") => &["bench-sdk"],
        // The binary under test.
        "bench-tests" => &["bench-host"],
        n => panic!("`{n}` is new: give it a place in the order of `dependency_order.rs`"),
    };
    list.iter().copied().collect()
}

#[test]
fn crates_use_only_what_the_order_allows() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let ours: BTreeSet<&str> = packages.iter().map(|p| p["name"].as_str().expect("name")).collect();
    let mut wrong = BTreeMap::new();
    for p in packages {
        let name = p["name"].as_str().expect("name");
        let may = allowed(name);
        let uses: Vec<&str> = p["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter()
            .filter(|d| d["kind"].as_str() != Some("dev"))
            .map(|d| d["name"].as_str().expect("name"))
            .filter(|d| ours.contains(d) && !may.contains(d))
            .collect();
        if !uses.is_empty() {
            wrong.insert(name, uses);
        }
    }
    assert!(wrong.is_empty(), "edges that the order forbids: {wrong:?}");
}

#[test]
fn the_load_path_sees_neither_wasm_nor_parquet() {
    let out = Command::new(env!("CARGO"))
        .args(["tree", "-p", "bench-load", "-e", "normal", "--prefix", "none", "--offline"])
        .current_dir(root())
        .output()
        .expect("run cargo tree");
    let tree = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(tree.contains("hyper"), "{tree}{}", String::from_utf8_lossy(&out.stderr));
    let heavy: Vec<&str> =
        tree.lines().filter(|l| ["wasmtime", "parquet", "arrow"].iter().any(|h| l.starts_with(h))).collect();
    assert!(heavy.is_empty(), "bench-load uses {heavy:?}");
}

#[test]
fn the_top_level_is_as_agreed() {
    let known = [
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "clippy.toml",
        "host",
        "plugins",
        "rust-toolchain.toml",
        "rustfmt.toml",
        "sdk",
        "tests",
        "workloads",
    ];
    let out = Command::new("git").args(["ls-files"]).current_dir(root()).output().expect("run git ls-files");
    let top: BTreeSet<String> = String::from_utf8_lossy(&out.stdout)
        .lines()
        .filter_map(|l| l.split('/').next().map(str::to_owned))
        .filter(|n| !n.starts_with('.') && !known.contains(&n.as_str()))
        .collect();
    assert!(top.is_empty(), "not part of the agreed top level: {top:?}");
}

#[test]
fn source_files_stay_short() {
    let out = Command::new("git").args(["ls-files", "*.rs"]).current_dir(root()).output().expect("run git ls-files");
    let long: Vec<String> = String::from_utf8_lossy(&out.stdout)
        .lines()
        .filter(|f| !f.contains("/bindings/"))
        .filter_map(|f| {
            let lines = std::fs::read_to_string(root().join(f)).ok()?.lines().count();
            (lines > 600).then(|| format!("{f}: {lines}"))
        })
        .collect();
    assert!(long.is_empty(), "over 600 lines: {long:?}");
}
