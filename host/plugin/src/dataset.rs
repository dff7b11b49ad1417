//! A loaded dataset adapter.

use crate::catalog::{AdapterSource, Origin};
use crate::error::{CallError, Callee, PluginError};
use crate::granted::GrantedFile;
use crate::runtime::Runtime;
use crate::tokenizer::Tokenizer;
use crate::verify;
use crate::wit::{self, DatasetGuest, Inputs, ReaderGuest};
use bench_core::adapter::{AdapterDiagnostic, DatasetManifest, SettingKind, Settings, TokenizerNeed};
use bench_core::sample::{Sample, SampleNote};
use std::path::PathBuf;
use std::sync::Arc;

/// A dataset adapter. Calls are synchronous. What it answers is verified.
pub struct DatasetAdapter {
    guest: Box<dyn DatasetGuest>,
    callee: Callee,
    manifest: DatasetManifest,
    source: AdapterSource,
}

/// Everything that a dataset may use.
#[derive(Clone, Debug)]
pub struct DatasetInputs {
    /// Validated options.
    pub settings: Settings,
    /// Files that the user granted, by the key of their setting.
    pub sources: Vec<(String, PathBuf)>,
    /// The model's tokenizer, where there is one.
    pub tokenizer: Option<Arc<Tokenizer>>,
    /// What other tools call `--seed`.
    pub seed: u64,
    /// Samples that the run will take; a dataset may yield fewer, never more.
    pub wanted: u64,
}

impl std::fmt::Debug for DatasetAdapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatasetAdapter").field("adapter", &self.callee).finish_non_exhaustive()
    }
}

impl DatasetAdapter {
    pub(crate) fn load(runtime: &Arc<Runtime>, source: AdapterSource) -> Result<DatasetAdapter, PluginError> {
        let guest = wit::load_dataset(runtime, &source)?;
        let mut callee = Callee::unknown(&source.id);
        let manifest = guest.describe().map_err(|e| callee.error("describe", e))?;
        callee.verified("describe", verify::dataset_manifest(&manifest))?;
        callee = callee.introduced(&manifest.info, source.origin == Origin::Bundled)?;
        Ok(DatasetAdapter { guest, callee, manifest, source })
    }

    /// All that the adapter may ever ask for.
    pub fn manifest(&self) -> &DatasetManifest {
        &self.manifest
    }

    /// Where it came from, its digest and imports.
    pub fn source(&self) -> &AdapterSource {
        &self.source
    }

    /// What the adapter has to say of its options. Diagnostics of severity error mean that they can't work.
    ///
    /// # Errors
    /// Where the adapter failed.
    pub fn check(&self, settings: &Settings) -> Result<Vec<AdapterDiagnostic>, PluginError> {
        self.guest.check(settings).map_err(|e| self.callee.error("check", e))
    }

    /// Whether these options need the model's tokenizer.
    ///
    /// # Errors
    /// Where the adapter failed.
    pub fn needs_tokenizer(&self, settings: &Settings) -> Result<TokenizerNeed, PluginError> {
        self.guest.needs_tokenizer(settings).map_err(|e| self.callee.error("needs-tokenizer", e))
    }

    /// Opens the dataset. Opened twice with equal inputs it yields equal samples.
    ///
    /// # Errors
    /// Where a granted file can't be opened, or the adapter refused, failed or broke the contract.
    pub fn open(&self, inputs: DatasetInputs) -> Result<DatasetReader, PluginError> {
        let mut sources = Vec::with_capacity(inputs.sources.len());
        for (key, path) in inputs.sources {
            if !self.manifest.settings.iter().any(|s| s.key == key && s.kind == SettingKind::Source) {
                let what =
                    format!("file `{}` is granted for `{key}`, which is no source of its manifest", path.display());
                return Err(PluginError::Load { adapter: self.callee.adapter.clone(), what });
            }
            let opened = GrantedFile::open(&key, &path).map_err(|source| PluginError::Read { path, source })?;
            sources.push(opened);
        }
        let tokenizer = inputs.tokenizer.clone();
        let left = inputs.wanted;
        let reader = self.guest.open(Inputs {
            settings: inputs.settings,
            sources,
            tokenizer: inputs.tokenizer,
            seed: inputs.seed,
            wanted: inputs.wanted,
        });
        let reader = reader.map_err(|e| self.callee.error("open", e))?;
        Ok(DatasetReader { reader: Some(reader), callee: self.callee.clone(), tokenizer, left })
    }
}

/// An opened dataset.
pub struct DatasetReader {
    /// Gone once a call failed: what the instance holds then can't be trusted.
    reader: Option<Box<dyn ReaderGuest>>,
    callee: Callee,
    tokenizer: Option<Arc<Tokenizer>>,
    left: u64,
}

impl std::fmt::Debug for DatasetReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatasetReader").field("adapter", &self.callee).field("left", &self.left).finish_non_exhaustive()
    }
}

impl DatasetReader {
    /// Number of samples there are, where that is known without reading everything.
    ///
    /// # Errors
    /// Where the adapter failed, now or before.
    pub fn count(&mut self) -> Result<Option<u64>, PluginError> {
        self.call("reader.count", |r| r.count(), Ok)
    }

    /// The next samples, at most `max` and never more than the run still wants; none at the end.
    ///
    /// # Errors
    /// Where the adapter refused, failed (now or before) or broke the contract.
    pub fn next(&mut self, max: u32) -> Result<Vec<Sample>, PluginError> {
        let max = u64::from(max).min(self.left) as u32;
        if max == 0 {
            return Ok(Vec::new());
        }
        let (left, tokenizer) = (self.left, self.tokenizer.clone());
        let samples =
            self.call("reader.next", |r| r.next(max), |s| verify::samples(s, max, left, tokenizer.as_deref()))?;
        self.left -= samples.len() as u64;
        Ok(samples)
    }

    /// What there is to say of the samples yielded so far.
    ///
    /// # Errors
    /// Where the adapter failed (now or before) or broke the contract.
    pub fn notes(&mut self) -> Result<Vec<SampleNote>, PluginError> {
        self.call("reader.notes", |r| r.notes(), verify::notes)
    }

    fn call<T>(
        &mut self,
        call: &'static str,
        f: impl FnOnce(&mut dyn ReaderGuest) -> Result<T, CallError>,
        verify: impl FnOnce(T) -> Result<T, String>,
    ) -> Result<T, PluginError> {
        let Some(mut reader) = self.reader.take() else {
            let what = "an earlier call of this reader failed".to_owned();
            return Err(self.callee.error(call, CallError::Fault(what)));
        };
        let answer = f(&mut *reader).map_err(|e| self.callee.error(call, e))?;
        let answer = self.callee.verified(call, verify(answer))?;
        self.reader = Some(reader);
        Ok(answer)
    }
}
