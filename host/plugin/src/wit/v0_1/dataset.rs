//! Dataset adapters of this version.

use super::bindings::dataset::exports::bench::dataset::adapter as guest;
use super::bindings::dataset::{DatasetAdapter, DatasetAdapterPre};
use super::{from_guest, to_guest};
use crate::error::CallError;
use crate::runtime::Runtime;
use crate::state::{HostState, for_people};
use crate::wit::{DatasetGuest, Inputs, ReaderGuest};
use bench_core::adapter::{AdapterDiagnostic, DatasetManifest, Settings, SourceNeed, TokenizerNeed};
use bench_core::sample::{Sample, SampleNote};
use std::sync::Arc;
use std::time::Duration;
use wasmtime::Store;
use wasmtime::component::{Component, HasSelf, Linker, ResourceAny};

/// A compiled adapter.
pub(crate) struct Dataset {
    runtime: Arc<Runtime>,
    adapter: String,
    pre: DatasetAdapterPre<HostState>,
}

impl Dataset {
    /// Links a component; the error says what doesn't fit.
    pub(crate) fn load(runtime: &Arc<Runtime>, adapter: &str, component: &Component) -> Result<Dataset, String> {
        let mut linker = Linker::new(&runtime.engine);
        DatasetAdapter::add_to_linker::<_, HasSelf<_>>(&mut linker, |s| s).map_err(|e| format!("{e:#}"))?;
        let pre = linker.instantiate_pre(component).and_then(DatasetAdapterPre::new);
        let pre = pre.map_err(|e| format!("it doesn't fit the world `dataset-adapter`: {e:#}"))?;
        Ok(Dataset { runtime: runtime.clone(), adapter: adapter.to_owned(), pre })
    }

    fn call<T>(
        &self,
        deadline: Duration,
        f: impl FnOnce(&guest::Guest, &mut Store<HostState>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let mut store = self.runtime.store(&self.adapter, &self.runtime.limits.dataset);
        self.runtime.call(&mut store, deadline, |store| {
            let instance = self.pre.instantiate(&mut *store)?;
            f(instance.bench_dataset_adapter(), store)
        })
    }
}

impl DatasetGuest for Dataset {
    fn describe(&self) -> Result<DatasetManifest, CallError> {
        let m = self.call(self.runtime.limits.deadlines.describe, |g, s| g.call_describe(s))?;
        let need = |n: guest::SourceNeed| SourceNeed {
            id: n.id,
            doc: n.doc,
            origin: n.origin,
            license: n.license,
            digest: n.digest,
        };
        Ok(DatasetManifest {
            info: from_guest::info(m.info),
            settings: m.settings.into_iter().map(from_guest::setting).collect(),
            sources: m.sources.into_iter().map(need).collect(),
        })
    }

    fn check(&self, settings: &Settings) -> Result<Vec<AdapterDiagnostic>, CallError> {
        let settings = to_guest::settings(settings);
        let deadline = self.runtime.limits.deadlines.plan;
        self.call(deadline, |g, s| g.call_check(s, &settings)).map(from_guest::diagnostics)
    }

    fn needs_tokenizer(&self, settings: &Settings) -> Result<TokenizerNeed, CallError> {
        let settings = to_guest::settings(settings);
        let need = self.call(self.runtime.limits.deadlines.plan, |g, s| g.call_needs_tokenizer(s, &settings))?;
        Ok(match need {
            guest::TokenizerNeed::Never => TokenizerNeed::Never,
            guest::TokenizerNeed::IfPresent => TokenizerNeed::IfPresent,
            guest::TokenizerNeed::Required => TokenizerNeed::Required,
        })
    }

    fn open(&self, inputs: Inputs) -> Result<Box<dyn ReaderGuest>, CallError> {
        let mut store = self.runtime.store(&self.adapter, &self.runtime.limits.dataset);
        let (adapter, opened) = self.runtime.call(&mut store, self.runtime.limits.deadlines.open, |store| {
            let adapter = self.pre.instantiate(&mut *store)?;
            let table = &mut store.data_mut().table;
            let sources = inputs.sources.into_iter().map(|s| table.push(s)).collect::<Result<_, _>>()?;
            let tokenizer = inputs.tokenizer.map(|t| table.push(t)).transpose()?;
            let inputs = guest::Inputs {
                settings: to_guest::settings(&inputs.settings),
                sources,
                tokenizer,
                seed: inputs.seed,
                wanted: inputs.wanted,
            };
            let opened = adapter.bench_dataset_adapter().call_open(&mut *store, &inputs)?;
            Ok((adapter, opened))
        })?;
        let reader = from_guest::answer(opened)?;
        Ok(Box::new(Reader { runtime: self.runtime.clone(), store, adapter, reader }))
    }
}

/// An opened dataset with the instance that it lives in.
struct Reader {
    runtime: Arc<Runtime>,
    store: Store<HostState>,
    adapter: DatasetAdapter,
    reader: ResourceAny,
}

impl Reader {
    fn call<T>(
        &mut self,
        f: impl FnOnce(guest::GuestReader<'_>, &mut Store<HostState>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let calls = self.adapter.bench_dataset_adapter().reader();
        let reader = self.reader;
        self.runtime.call(&mut self.store, self.runtime.limits.deadlines.next, |store| f(calls, store, reader))
    }
}

impl ReaderGuest for Reader {
    fn count(&mut self) -> Result<Option<u64>, CallError> {
        self.call(|g, s, r| g.call_count(s, r))
    }

    fn next(&mut self, max: u32) -> Result<Vec<Sample>, CallError> {
        let samples = from_guest::answer(self.call(|g, s, r| g.call_next(s, r, max))?)?;
        Ok(samples.into_iter().map(sample).collect())
    }

    fn notes(&mut self) -> Result<Vec<SampleNote>, CallError> {
        let note = |n: guest::Note| SampleNote {
            code: n.code,
            message: for_people(&n.message),
            count: n.count,
            offset: n.offset,
        };
        Ok(self.call(|g, s, r| g.call_notes(s, r))?.into_iter().map(note).collect())
    }
}

fn sample(s: guest::Sample) -> Sample {
    Sample {
        id: s.id,
        prompt: from_guest::prompt(s.prompt),
        prompt_tokens: s.prompt_tokens,
        output_tokens: s.output_tokens,
        sampling: s.sampling.map(from_guest::sampling),
        tools: s.tools,
        json_schema: s.json_schema,
        session: s.session,
        turn: s.turn,
        timestamp: s.timestamp,
        labels: s.labels,
    }
}
