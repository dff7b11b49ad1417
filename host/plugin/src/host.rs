//! Finding adapters and loading them.

use crate::catalog::{self, AdapterKind, AdapterSource, BundledAdapter, Origin};
use crate::dataset::DatasetAdapter;
use crate::engine::EngineAdapter;
use crate::error::PluginError;
use crate::limits::Limits;
use crate::runtime::Runtime;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a host is set up.
#[derive(Clone, Debug, Default)]
pub struct PluginConfig {
    /// Where compiled components are kept between runs; `None` compiles each time. Only this process's
    /// user may be able to write there: what lies in it is run.
    pub cache_dir: Option<PathBuf>,
    /// What calls may take.
    pub limits: Limits,
    /// Adapters that are part of the program.
    pub bundled: &'static [BundledAdapter],
}

/// Finds adapters and runs them. One for a process is enough; all calls are synchronous.
pub struct PluginHost {
    runtime: Arc<Runtime>,
    bundled: &'static [BundledAdapter],
}

impl std::fmt::Debug for PluginHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginHost").field("bundled", &self.bundled.len()).finish_non_exhaustive()
    }
}

impl PluginHost {
    /// Starts the runtime.
    ///
    /// # Errors
    /// [`PluginError::Runtime`] where this machine can't run it or the cache folder can't be used.
    pub fn new(config: PluginConfig) -> Result<PluginHost, PluginError> {
        let runtime = Runtime::new(config.cache_dir.as_deref(), config.limits)?;
        Ok(PluginHost { runtime: Arc::new(runtime), bundled: config.bundled })
    }

    /// The bundled adapters.
    pub fn list(&self) -> &'static [BundledAdapter] {
        self.bundled
    }

    /// Finds an adapter by the id of a bundled one, or by a path (it has a `/` or ends in `.wasm`), relative
    /// to `base_dir`.
    ///
    /// # Errors
    /// Where there is none of that name, the file can't be read, or it is no adapter of this kind.
    pub fn find(&self, kind: AdapterKind, name_or_path: &str, base_dir: &Path) -> Result<AdapterSource, PluginError> {
        if catalog::is_path(name_or_path) {
            let path = base_dir.join(name_or_path);
            let bytes = catalog::read_file(&path, self.runtime.limits.component_bytes)?;
            return AdapterSource::read(name_or_path.to_owned(), kind, Origin::File(path), Cow::Owned(bytes));
        }
        let of_kind = || self.bundled.iter().filter(|b| b.kind == kind);
        match of_kind().find(|b| b.id == name_or_path) {
            Some(b) => AdapterSource::read(b.id.to_owned(), kind, Origin::Bundled, Cow::Borrowed(b.bytes)),
            None => {
                let mut known: Vec<String> = of_kind().map(|b| b.id.to_owned()).collect();
                known.sort();
                let nearest = catalog::nearest(name_or_path, of_kind().map(|b| b.id));
                Err(PluginError::Unknown { kind, name: name_or_path.to_owned(), known, nearest })
            }
        }
    }

    /// Loads an engine adapter and asks it to describe itself.
    ///
    /// # Errors
    /// Where it can't be loaded, or its manifest is not what the contract asks for.
    pub fn engine(&self, source: AdapterSource) -> Result<EngineAdapter, PluginError> {
        EngineAdapter::load(&self.runtime, source)
    }

    /// Loads a dataset adapter and asks it to describe itself.
    ///
    /// # Errors
    /// Where it can't be loaded, or its manifest is not what the contract asks for.
    pub fn dataset(&self, source: AdapterSource) -> Result<DatasetAdapter, PluginError> {
        DatasetAdapter::load(&self.runtime, source)
    }
}
