//! Where manifests of adapters come from.

use bench_core::adapter::{DatasetManifest, EngineManifest};

/// Gives the manifests that a workload's options are checked against.
pub trait AdapterCatalog {
    /// The engine adapter that the workload names: an id, or a path to a `.wasm` as written there.
    ///
    /// # Errors
    /// No such adapter, or one that can't be loaded.
    fn engine(&self, adapter: &str) -> Result<EngineManifest, CatalogError>;

    /// The dataset adapter that the workload names.
    ///
    /// # Errors
    /// As for [`AdapterCatalog::engine`].
    fn dataset(&self, adapter: &str) -> Result<DatasetManifest, CatalogError>;
}

/// Why there is no manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CatalogError {
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}
