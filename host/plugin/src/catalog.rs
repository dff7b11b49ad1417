//! Where adapters come from: those in the binary, and files of the user's.

use crate::component;
use crate::error::PluginError;
use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The kinds of adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdapterKind {
    /// Launches and speaks to an inference engine.
    Engine,
    /// Yields samples.
    Dataset,
}

impl AdapterKind {
    /// The word in messages and in the names of the contract's packages.
    pub const fn as_str(self) -> &'static str {
        match self {
            AdapterKind::Engine => "engine",
            AdapterKind::Dataset => "dataset",
        }
    }

    /// The interface that an adapter of this kind exports, without its version.
    const fn interface(self) -> &'static str {
        match self {
            AdapterKind::Engine => "bench:engine/adapter",
            AdapterKind::Dataset => "bench:dataset/adapter",
        }
    }
}

impl fmt::Display for AdapterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An adapter that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct BundledAdapter {
    /// Its name in workloads.
    pub id: &'static str,
    /// Its kind.
    pub kind: AdapterKind,
    /// The component.
    pub bytes: &'static [u8],
}

/// Where an adapter came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is part of the program.
    Bundled,
    /// It is a file.
    File(PathBuf),
}

/// An adapter that was found, not yet compiled.
#[derive(Clone, Debug)]
pub struct AdapterSource {
    /// Its name: the id of a bundled adapter, the path of a file as it was given.
    pub id: String,
    /// Its kind.
    pub kind: AdapterKind,
    /// Where it came from.
    pub origin: Origin,
    /// SHA-256 of the component, lower-case hex.
    pub sha256: String,
    /// The component.
    pub bytes: Cow<'static, [u8]>,
    /// Version of the contract that it was built for.
    pub contract: String,
    imports: Vec<String>,
}

impl AdapterSource {
    /// Finds out what a component is: its kind and contract version from its exports, its imports.
    ///
    /// # Errors
    /// [`PluginError::Load`] where it is no component or no adapter of `kind`.
    pub(crate) fn read(
        id: String,
        kind: AdapterKind,
        origin: Origin,
        bytes: Cow<'static, [u8]>,
    ) -> Result<AdapterSource, PluginError> {
        let load = |what| PluginError::Load { adapter: id.clone(), what };
        let interfaces = component::interfaces(&bytes).map_err(load)?;
        let contract = contract_version(kind, &interfaces.exports).map_err(load)?;
        let sha256 = bench_core::hex(bench_core::sha256(&bytes));
        Ok(AdapterSource { id, kind, origin, sha256, bytes, contract, imports: interfaces.imports })
    }

    /// What the component imports: the list of its powers, as `package:name/interface@version`.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }
}

/// The version behind the `@` of the adapter interface among a component's exports.
fn contract_version(kind: AdapterKind, exports: &[String]) -> Result<String, String> {
    let version = |kind: AdapterKind| {
        exports.iter().find_map(|e| Some(e.strip_prefix(kind.interface())?.strip_prefix('@')?.to_owned()))
    };
    if let Some(found) = version(kind) {
        return Ok(found);
    }
    let other = match kind {
        AdapterKind::Engine => AdapterKind::Dataset,
        AdapterKind::Dataset => AdapterKind::Engine,
    };
    if let Some(found) = version(other) {
        return Err(format!(
            "it is a {other} adapter (it exports `{}@{found}`); where it stands an {kind} adapter is needed, one that exports \
             `{}@{}`",
            other.interface(),
            kind.interface(),
            crate::wit::NEWEST
        ));
    }
    let found = match exports {
        [] => "it exports nothing".to_owned(),
        some => format!("it exports {}", some.iter().map(|e| format!("`{e}`")).collect::<Vec<_>>().join(", ")),
    };
    Err(format!("it is no adapter: {found}, not `{}@{}`", kind.interface(), crate::wit::NEWEST))
}

/// Reads the component behind a path of the user's.
pub(crate) fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, PluginError> {
    let read_error = |source| PluginError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(read_error)?;
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that is too long, whatever its metadata say.
    file.take(limit + 1).read_to_end(&mut bytes).map_err(read_error)?;
    if bytes.len() as u64 > limit {
        let what = format!("it is larger than the {limit} bytes that a component may have");
        return Err(PluginError::Load { adapter: path.display().to_string(), what });
    }
    Ok(bytes)
}

/// Whether an adapter's name in a workload is a path rather than the id of a bundled one.
pub(crate) fn is_path(name: &str) -> bool {
    name.contains('/') || Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("wasm"))
}

/// The known name that takes the fewest edits to get from `name`, if that is few.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let most = 1 + name.chars().count() / 3;
    known.map(|k| (edits(name, k), k)).filter(|(d, _)| *d <= most).min().map(|(_, k)| k.to_owned())
}

/// Levenshtein's distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        let known = ["llama-cpp", "openai", "sglang", "sim", "tensorrt-llm", "vllm"];
        assert_eq!(nearest("vlm", known.into_iter()).as_deref(), Some("vllm"));
        assert_eq!(nearest("llama.cpp", known.into_iter()).as_deref(), Some("llama-cpp"));
        assert_eq!(nearest("triton", known.into_iter()), None);
        assert_eq!(edits("kitten", "sitting"), 3);
    }

    #[test]
    fn a_version_is_read_from_the_export() {
        let exports = ["bench:dataset/adapter@0.2.0".to_owned()];
        assert_eq!(contract_version(AdapterKind::Dataset, &exports).unwrap(), "0.2.0");
        let wrong = contract_version(AdapterKind::Engine, &exports).unwrap_err();
        assert!(wrong.starts_with("it is a dataset adapter (it exports `bench:dataset/adapter@0.2.0`)"), "{wrong}");
        let none = contract_version(AdapterKind::Engine, &["wasi:cli/run@0.2.0".to_owned()]).unwrap_err();
        assert_eq!(none, "it is no adapter: it exports `wasi:cli/run@0.2.0`, not `bench:engine/adapter@0.1.0`");
    }

    #[test]
    fn paths_are_told_from_names() {
        assert!(is_path("./mine.wasm") && is_path("mine.wasm") && is_path("dir/mine"));
        assert!(!is_path("vllm") && !is_path("llama-cpp"));
    }
}
