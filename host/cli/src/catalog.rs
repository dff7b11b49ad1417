//! Adapters as the commands use them: found, compiled and described once.

use crate::args::Global;
use crate::bundled::BUNDLED;
use crate::diagnostics::Failure;
use crate::exit::Exit;
use bench_core::adapter::{DatasetManifest, EngineManifest};
use bench_plugin::{
    AdapterKind, AdapterSource, DatasetAdapter, EngineAdapter, Limits, Origin, PluginConfig, PluginError, PluginHost,
};
use bench_trace::AdapterRun;
use bench_workload::{AdapterCatalog, CatalogError};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// An adapter that was loaded, and where it came from.
pub(crate) struct Loaded<A> {
    /// It.
    pub(crate) adapter: A,
    /// For the run's description.
    pub(crate) run: AdapterRun,
    /// It is part of the program.
    pub(crate) bundled: bool,
    /// What it imports.
    pub(crate) imports: Vec<String>,
    /// Version of the contract that it was built for.
    pub(crate) contract: String,
}

type Cache<A> = RefCell<BTreeMap<String, Rc<Loaded<A>>>>;

/// The adapters that the workloads of one folder can name.
pub(crate) struct Adapters {
    host: PluginHost,
    base_dir: PathBuf,
    engines: Cache<EngineAdapter>,
    datasets: Cache<DatasetAdapter>,
}

impl Adapters {
    /// Those for names and paths relative to `base_dir`.
    ///
    /// # Errors
    /// The sandbox can't work on this machine.
    pub(crate) fn new(global: &Global, base_dir: &Path) -> Result<Adapters, Failure> {
        let config = PluginConfig { cache_dir: cache_dir(global), limits: Limits::default(), bundled: BUNDLED };
        let host = PluginHost::new(config).map_err(|e| Failure::internal("failed to start the sandbox").because(&e))?;
        Ok(Adapters { host, base_dir: base_dir.to_owned(), engines: RefCell::default(), datasets: RefCell::default() })
    }

    /// Those for the workload in `file`.
    ///
    /// # Errors
    /// As [`Adapters::new`].
    pub(crate) fn of_workload(global: &Global, file: &Path) -> Result<Adapters, Failure> {
        // Absolute, since engines start in folders of their own.
        let file = std::path::absolute(file)
            .map_err(|e| Failure::input(format!("failed to find the folder of `{}`", file.display())).because(&e))?;
        Adapters::new(global, file.parent().unwrap_or(Path::new("/")))
    }

    /// What paths of the workload are relative to.
    pub(crate) fn base_dir(&self) -> &Path {
        &self.base_dir
    }

    /// Names of the bundled adapters of a kind, sorted.
    pub(crate) fn bundled(&self, kind: AdapterKind) -> Vec<&'static str> {
        let mut ids: Vec<&str> = self.host.list().iter().filter(|b| b.kind == kind).map(|b| b.id).collect();
        ids.sort_unstable();
        ids
    }

    /// An engine adapter by the name that a workload gives it.
    ///
    /// # Errors
    /// There is none, or it can't be loaded.
    pub(crate) fn engine_adapter(&self, written: &str) -> Result<Rc<Loaded<EngineAdapter>>, PluginError> {
        self.load(
            AdapterKind::Engine,
            &self.engines,
            written,
            |source| self.host.engine(source),
            |a| (a.manifest().info.id.clone(), a.manifest().info.version.clone()),
        )
    }

    /// A dataset adapter by the name that a workload gives it.
    ///
    /// # Errors
    /// There is none, or it can't be loaded.
    pub(crate) fn dataset_adapter(&self, written: &str) -> Result<Rc<Loaded<DatasetAdapter>>, PluginError> {
        self.load(
            AdapterKind::Dataset,
            &self.datasets,
            written,
            |source| self.host.dataset(source),
            |a| (a.manifest().info.id.clone(), a.manifest().info.version.clone()),
        )
    }

    fn load<A>(
        &self,
        kind: AdapterKind,
        cache: &Cache<A>,
        written: &str,
        load: impl FnOnce(AdapterSource) -> Result<A, PluginError>,
        identity: impl FnOnce(&A) -> (String, String),
    ) -> Result<Rc<Loaded<A>>, PluginError> {
        if let Some(loaded) = cache.borrow().get(written) {
            return Ok(Rc::clone(loaded));
        }
        let source = self.host.find(kind, written, &self.base_dir)?;
        let imports = source.imports().to_vec();
        let contract = source.contract.clone();
        let bundled = source.origin == Origin::Bundled;
        let (sha256, origin) = (source.sha256.clone(), origin_word(&source.origin));
        let adapter = load(source)?;
        let (id, version) = identity(&adapter);
        let run = AdapterRun { id, kind: kind.as_str().to_owned(), version, sha256, origin };
        let loaded = Rc::new(Loaded { adapter, run, bundled, imports, contract });
        cache.borrow_mut().insert(written.to_owned(), Rc::clone(&loaded));
        Ok(loaded)
    }
}

impl AdapterCatalog for Adapters {
    fn engine(&self, adapter: &str) -> Result<EngineManifest, CatalogError> {
        self.engine_adapter(adapter).map(|l| l.adapter.manifest().clone()).map_err(catalog_error)
    }

    fn dataset(&self, adapter: &str) -> Result<DatasetManifest, CatalogError> {
        self.dataset_adapter(adapter).map(|l| l.adapter.manifest().clone()).map_err(catalog_error)
    }
}

/// The whole chain in one line: the catalog's message stands beside a place in the workload.
fn catalog_error(e: PluginError) -> CatalogError {
    let help = matches!(e, PluginError::Unknown { .. }).then(|| "`bench-host plugins list` shows them".to_owned());
    CatalogError { message: e.to_string(), help }
}

/// What an adapter's failure means to a command.
pub(crate) fn failure(what: impl Into<String>, e: &PluginError) -> Failure {
    let exit = match e {
        PluginError::Runtime { .. } => Exit::Internal,
        _ => Exit::BadInput,
    };
    Failure::new(exit, what).because(e)
}

fn origin_word(origin: &Origin) -> String {
    match origin {
        Origin::Bundled => "bundled".to_owned(),
        Origin::File(path) => path.display().to_string(),
    }
}

/// Without a folder adapters are compiled at each start: slower, and nothing else.
fn cache_dir(global: &Global) -> Option<PathBuf> {
    global.cache.clone().or_else(|| {
        let base = std::env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
        base.is_absolute().then(|| base.join("bench-host"))
    })
}
