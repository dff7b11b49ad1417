//! The guests of `tests/guests`, built once.

use bench_plugin::{AdapterKind, AdapterSource, Limits, PluginConfig, PluginHost};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("host/plugin is two folders down")
}

/// The folder of the built components.
static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args(["build", "--lib", "--profile", "plugin", "--target", "wasm32-unknown-unknown"]);
    cargo.args(["-p", "bench-engine-misbehaving", "-p", "bench-dataset-misbehaving", "--target-dir"]).arg(&target);
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_TARGET_DIR"]
    {
        cargo.env_remove(name);
    }
    let output = cargo.output().expect("run cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target.join("wasm32-unknown-unknown/plugin")
});

/// A host whose compiled components are kept between tests.
pub(crate) fn host(limits: Limits) -> PluginHost {
    let cache_dir = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    PluginHost::new(PluginConfig { cache_dir, limits, bundled: &[] }).unwrap()
}

/// The misbehaving guest of a kind.
pub(crate) fn guest(host: &PluginHost, kind: AdapterKind) -> AdapterSource {
    host.find(kind, &format!("bench_{kind}_misbehaving.wasm"), &BUILT).unwrap()
}
