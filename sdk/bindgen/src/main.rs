//! Writes the guest bindings of `bench-sdk` from the contract in `sdk/wit`.
//!
//! `cargo run -p bench-bindgen` writes them, `-- --check` fails when they are not current. They are
//! checked in because generating them by a macro makes every cold build of an adapter some thirty
//! CPU seconds longer.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a generator says what it wrote")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wit_bindgen_core::wit_parser::Resolve;
use wit_bindgen_core::{Files, WorldGenerator};
use wit_bindgen_rust::{Opts, WithOption};

/// The version of the contract that the SDK speaks.
const CONTRACT: &str = "0.1.0";
/// What writes the files anew.
const FIX: &str = "cargo run -p bench-bindgen";

#[derive(Debug, thiserror::Error)]
enum BindgenError {
    #[error("can't read the contract in `{folder}`: {reason}")]
    Contract { folder: PathBuf, reason: String },
    #[error("can't generate bindings for world `{world}`: {reason}")]
    Generate { world: &'static str, reason: String },
    #[error("can't write `{path}`: {reason}")]
    Write { path: PathBuf, reason: std::io::Error },
    #[error("`{path}` is not what the contract says; write it anew with `{FIX}`")]
    Stale { path: PathBuf },
}

/// One world of the contract and the file of its bindings.
struct World {
    name: &'static str,
    file: &'static str,
    export_macro: &'static str,
    /// Interfaces whose types come from the other world's bindings, so that a message is one type
    /// whichever kind of adapter uses it.
    shared: &'static [(&'static str, &'static str)],
}

const WORLDS: [World; 2] = [
    World { name: "engine-adapter", file: "engine.rs", export_macro: "export_engine_world", shared: &[] },
    World {
        name: "dataset-adapter",
        file: "dataset.rs",
        export_macro: "export_dataset_world",
        shared: &[
            ("bench:adapter/types", "adapter::types"),
            ("bench:engine/requests", "engine::requests"),
            ("bench:host/log", "host::log"),
        ],
    },
];

fn main() -> ExitCode {
    let check = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        other => {
            eprintln!("error: unknown arguments `{}`; the only one is `--check`", other.join(" "));
            return ExitCode::from(2);
        }
    };
    match run(check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(check: bool) -> Result<(), BindgenError> {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for world in &WORLDS {
        let text = generate(&sdk.join("wit").join(CONTRACT), world)?;
        let path = sdk.join("bench-sdk/src/bindings").join(world.file);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if check {
            return Err(BindgenError::Stale { path });
        }
        std::fs::write(&path, text).map_err(|reason| BindgenError::Write { path: path.clone(), reason })?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

fn generate(folder: &Path, world: &World) -> Result<String, BindgenError> {
    let contract =
        |reason: &dyn std::fmt::Display| BindgenError::Contract { folder: folder.into(), reason: reason.to_string() };
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(folder).map_err(|e| contract(&format!("{e:#}")))?;
    let id = resolve.select_world(&[package], Some(world.name)).map_err(|e| contract(&format!("{e:#}")))?;
    let with = world.shared.iter().map(|(interface, module)| {
        (format!("{interface}@{CONTRACT}"), WithOption::Path(format!("::bench_sdk::bindings::engine::bench::{module}")))
    });
    let options = Opts {
        format: true,
        generate_all: true,
        with: with.collect(),
        pub_export_macro: true,
        export_macro_name: Some(world.export_macro.to_owned()),
        runtime_path: Some("::bench_sdk::bindings::rt".to_owned()),
        additional_derive_attributes: vec!["PartialEq".to_owned()],
        // It holds handles.
        additional_derive_ignore: vec!["inputs".to_owned()],
        ..Opts::default()
    };
    let mut files = Files::default();
    let failed = |reason: String| BindgenError::Generate { world: world.name, reason };
    options.build().generate(&mut resolve, id, &mut files).map_err(|e| failed(format!("{e:#}")))?;
    let bytes = files.iter().next().map(|(_, bytes)| bytes.to_vec()).unwrap_or_default();
    String::from_utf8(bytes).map_err(|e| failed(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bindings_are_current() {
        let checked = run(true);
        assert!(checked.is_ok(), "{}", checked.err().map_or_else(String::new, |e| e.to_string()));
    }
}
