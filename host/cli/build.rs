//! Builds every adapter under `plugins/` to a WebAssembly component and writes the table of them,
//! `$OUT_DIR/plugins.rs`: an expression of type `&[bench_plugin::BundledAdapter]`.
//!
//! `BENCH_PLUGINS=none` builds the program without any.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

/// A bare target: a component imports what its world grants and nothing else, no WASI.
const TARGET: &str = "wasm32-unknown-unknown";
/// The profile of the workspace that adapters are built with.
const PROFILE: &str = "plugin";

/// A folder of adapters: where it is, what its packages' names start with, which kind they are.
const KINDS: [(&str, &str, &str); 2] =
    [("plugins/engines", "bench-engine-", "Engine"), ("plugins/datasets", "bench-dataset-", "Dataset")];

struct Adapter {
    /// The folder's name.
    id: String,
    package: String,
    kind: &'static str,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(lines) => {
            for line in lines.lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    println!("cargo::rerun-if-env-changed=BENCH_PLUGINS");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(variable("OUT_DIR")?);
    let manifest_dir = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let root = manifest_dir.ancestors().nth(2).ok_or("the package is not in `host/cli` of the workspace")?;
    let adapters = match env::var("BENCH_PLUGINS").as_deref() {
        Ok("none") => Vec::new(),
        Ok(other) => return Err(format!("`BENCH_PLUGINS={other}` is not known; leave it unset, or set it to `none`")),
        Err(_) => adapters(root)?,
    };
    let mut table = String::from("&[\n");
    if !adapters.is_empty() {
        let built = build(root, &out.join("adapters"), &adapters)?;
        for a in &adapters {
            let component = built.join(a.package.replace('-', "_")).with_extension("wasm");
            watch_sources(&component.with_extension("d"))?;
            // Writing to a string can't fail.
            let _ = writeln!(
                table,
                "    bench_plugin::BundledAdapter {{ id: {:?}, kind: bench_plugin::AdapterKind::{}, bytes: include_bytes!({:?}) }},",
                a.id, a.kind, component
            );
        }
    }
    table.push(']');
    let file = out.join("plugins.rs");
    if fs::read_to_string(&file).is_ok_and(|old| old == table) {
        return Ok(());
    }
    fs::write(&file, table).map_err(|e| format!("failed to write `{}`: {e}", file.display()))
}

/// The adapters' folders, in the order of their names. A new one changes `Cargo.lock`, which is watched.
fn adapters(root: &Path) -> Result<Vec<Adapter>, String> {
    let mut found = Vec::new();
    for (folder, prefix, kind) in KINDS {
        let folder = root.join(folder);
        let unreadable = |e| format!("failed to list `{}`: {e}", folder.display());
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let manifest = path.join("Cargo.toml");
            if let (true, Some(id)) = (manifest.is_file(), path.file_name().and_then(|n| n.to_str())) {
                println!("cargo::rerun-if-changed={}", manifest.display());
                found.push(Adapter { id: id.to_owned(), package: format!("{prefix}{id}"), kind });
            }
        }
    }
    found.sort_by(|a, b| a.package.cmp(&b.package));
    Ok(found)
}

/// Builds the adapters; returns the folder in which their components lie.
fn build(root: &Path, target_dir: &Path, adapters: &[Adapter]) -> Result<PathBuf, String> {
    for file in ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "sdk/bench-sdk/Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", root.join(file).display());
    }
    need_target()?;
    // A folder of its own: the cargo that runs this script holds the lock of the outer one.
    let mut cargo = Command::new(variable("CARGO")?);
    cargo.current_dir(root).args(["build", "--lib", "--profile", PROFILE, "--target", TARGET, "--target-dir"]);
    cargo.arg(target_dir);
    for a in adapters {
        cargo.args(["--package", &a.package]);
    }
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(belongs_to_the_host) {
            cargo.env_remove(name);
        }
    }
    let status = cargo.status().map_err(|e| format!("failed to run cargo for the adapters: {e}"))?;
    if !status.success() {
        return Err("failed to build the adapters; what is wrong stands above".to_owned());
    }
    Ok(target_dir.join(TARGET).join(PROFILE))
}

/// Fails where the toolchain lacks the target, with the command that adds it.
fn need_target() -> Result<(), String> {
    let rustc = Command::new(variable("RUSTC")?).args(["--print", "target-libdir", "--target", TARGET]).output();
    let output = rustc.map_err(|e| format!("failed to run rustc: {e}"))?;
    if output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir() {
        return Ok(());
    }
    let toolchain = env::var("RUSTUP_TOOLCHAIN").map(|t| format!(" --toolchain {t}")).unwrap_or_default();
    Err(format!(
        "the Rust toolchain lacks the target `{TARGET}`, which adapters are built for\n\
         add it with: rustup target add {TARGET}{toolchain}\n\
         or build without bundled adapters: BENCH_PLUGINS=none cargo build"
    ))
}

/// Whether a variable was set for the host's build, by cargo or by a tool around it (clippy, coverage,
/// a compiler cache), and would change how adapters are built.
fn belongs_to_the_host(name: &str) -> bool {
    const NAMES: [&str; 17] = [
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_INCREMENTAL",
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_LINKS",
        "CARGO_MANIFEST_PATH",
        "DEBUG",
        "HOST",
        "NUM_JOBS",
        "OPT_LEVEL",
        "OUT_DIR",
        "PROFILE",
        "RUSTC",
        "RUSTC_LINKER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTDOC",
        "TARGET",
    ];
    const PREFIXES: [&str; 10] = [
        "CARGO_BUILD_",
        "CARGO_CFG_",
        "CARGO_FEATURE_",
        "CARGO_PKG_",
        "CARGO_PROFILE_",
        "CARGO_TARGET_",
        "CLIPPY_",
        "DEP_",
        "RUSTDOCFLAGS",
        "RUSTFLAGS",
    ];
    NAMES.contains(&name) || PREFIXES.iter().any(|p| name.starts_with(p))
}

/// Has cargo watch the files that a component was built from: its dep-info lists them, the SDK's included.
fn watch_sources(dep_info: &Path) -> Result<(), String> {
    let text = fs::read_to_string(dep_info).map_err(|e| format!("failed to read `{}`: {e}", dep_info.display()))?;
    for (_, files) in text.lines().filter_map(|line| line.split_once(": ")) {
        // A blank in a name is written as `\ `.
        for file in files.replace("\\ ", "\0").split(' ').filter(|f| !f.is_empty()) {
            println!("cargo::rerun-if-changed={}", file.replace('\0', " "));
        }
    }
    Ok(())
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|e| format!("`{name}`: {e}; cargo sets it for build scripts"))
}
