//! Finding and loading adapters: what is no adapter is told so, and why.

use bench_plugin::{AdapterKind, BundledAdapter, Limits, PluginConfig, PluginError, PluginHost};
use std::path::Path;

/// A component that exports an empty interface of this name and imports `imports`.
fn component(export: &str, import: &str) -> Vec<u8> {
    let import = if import.is_empty() { String::new() } else { format!("(import \"{import}\" (instance))") };
    wat::parse_str(format!("(component {import} (instance $i) (export \"{export}\" (instance $i)))")).unwrap()
}

/// The error of loading a file of this content as an engine adapter.
fn refused(content: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.wasm"), content).unwrap();
    let host = PluginHost::new(PluginConfig::default()).unwrap();
    let loaded = host.find(AdapterKind::Engine, "mine.wasm", folder.path()).and_then(|s| host.engine(s));
    match loaded.unwrap_err() {
        PluginError::Load { adapter, what } => {
            assert_eq!(adapter, "mine.wasm");
            what
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn another_version_of_the_contract_is_named_beside_ours() {
    let what = refused(&component("bench:engine/adapter@0.9.0", ""));
    assert!(
        what.starts_with(
            "it was built for `bench:engine/adapter@0.9.0`, and this program speaks `bench:engine/adapter@0.1.0`"
        ),
        "{what}"
    );
}

#[test]
fn another_kind_is_named() {
    let what = refused(&component("bench:dataset/adapter@0.1.0", ""));
    assert!(what.starts_with("it is a dataset adapter"), "{what}");
}

#[test]
fn powers_that_are_not_granted_are_named() {
    let what = refused(&component("bench:engine/adapter@0.1.0", "wasi:sockets/tcp@0.2.0"));
    assert!(what.starts_with("it imports `wasi:sockets/tcp@0.2.0`, which engine adapters are not granted"), "{what}");
    let what = refused(&component("bench:engine/adapter@0.1.0", "bench:host/source@0.1.0"));
    assert!(what.contains("`bench:host/source@0.1.0`, which engine adapters are not granted"), "{what}");
}

#[test]
fn an_interface_that_lacks_functions_does_not_fit() {
    let what = refused(&component("bench:engine/adapter@0.1.0", ""));
    assert!(what.starts_with("it doesn't fit the world `engine-adapter`"), "{what}");
}

#[test]
fn what_is_no_component_is_told_so() {
    assert_eq!(refused(b""), "it is no WebAssembly component");
    assert!(refused(&wat::parse_str("(module)").unwrap()).starts_with("it is a core WebAssembly module"));
    let whole = component("bench:engine/adapter@0.1.0", "");
    assert!(refused(&whole[..whole.len() - 1]).starts_with("it is a damaged WebAssembly component"));
}

#[test]
fn a_file_that_is_too_large_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.wasm"), [0; 101]).unwrap();
    let limits = Limits { component_bytes: 100, ..Limits::default() };
    let host = PluginHost::new(PluginConfig { limits, ..PluginConfig::default() }).unwrap();
    let error = host.find(AdapterKind::Engine, "./mine.wasm", folder.path()).unwrap_err().to_string();
    assert!(error.contains("larger than the 100 bytes"), "{error}");
}

static BUNDLED: &[BundledAdapter] = &[
    BundledAdapter { id: "vllm", kind: AdapterKind::Engine, bytes: b"no component" },
    BundledAdapter { id: "sglang", kind: AdapterKind::Engine, bytes: b"no component" },
    BundledAdapter { id: "random", kind: AdapterKind::Dataset, bytes: b"no component" },
];

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let host = PluginHost::new(PluginConfig { bundled: BUNDLED, ..PluginConfig::default() }).unwrap();
    assert_eq!(host.list().len(), 3);
    let error = host.find(AdapterKind::Engine, "vlm", Path::new("")).unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown engine adapter `vlm`; bundled are `sglang`, `vllm`; did you mean `vllm`?; an adapter of your own is \
         named by the path of its `.wasm`"
    );
    let error = host.find(AdapterKind::Dataset, "vllm", Path::new("")).unwrap_err().to_string();
    assert!(error.starts_with("unknown dataset adapter `vllm`; bundled are `random`; an adapter"), "{error}");
    let missing = host.find(AdapterKind::Engine, "./vllm.wasm", Path::new("/nowhere"));
    assert!(matches!(missing, Err(PluginError::Read { path, .. }) if path == Path::new("/nowhere/./vllm.wasm")));
}

#[test]
fn compiled_code_is_kept_in_the_folder_that_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let cache_dir = folder.path().join("cache");
    let host = PluginHost::new(PluginConfig { cache_dir: Some(cache_dir.clone()), ..PluginConfig::default() }).unwrap();
    let source = crate::common::guest(&host, AdapterKind::Engine);
    assert_eq!(source.sha256.len(), 64);
    host.engine(source).unwrap();
    assert!(std::fs::read_dir(&cache_dir).unwrap().next().is_some());
}
