//! Writing a dataset adapter.
//!
//! ```
//! use bench_sdk::dataset::{Dataset, Inputs, Manifest, Prompt, Reader, Sample};
//! use bench_sdk::Error;
//!
//! /// As many times the same question as the run wants.
//! struct Same;
//! struct Left(u64);
//!
//! impl Dataset for Same {
//!     type Reader = Left;
//!     fn describe() -> Manifest {
//!         Manifest { info: bench_sdk::info!("same", "Same"), settings: vec![], sources: vec![] }
//!     }
//!     fn open(inputs: Inputs) -> Result<Left, Error> {
//!         Ok(Left(inputs.wanted))
//!     }
//! }
//!
//! impl Reader for Left {
//!     fn next(&mut self, max: u32) -> Result<Vec<Sample>, Error> {
//!         let n = self.0.min(max.into());
//!         self.0 -= n;
//!         Ok((0..n).map(|i| Sample::new(i.to_string(), Prompt::Text("why?".into()))).collect())
//!     }
//! }
//!
//! bench_sdk::export_dataset!(Same);
//! # fn main() {}
//! ```

use crate::bindings::dataset::exports::bench::dataset::adapter as contract;
use crate::{Diagnostic, Error, Settings};
use std::cell::RefCell;
use std::marker::PhantomData;

#[doc(inline)]
pub use crate::bindings::dataset::bench::dataset::samples::Sample;
#[doc(inline)]
pub use crate::bindings::dataset::bench::host::random::{NumpyGenerator, NumpyLegacy, PythonRandom};
#[doc(inline)]
pub use crate::bindings::dataset::bench::host::source::{Batch, RecordFormat, Records, Source};
#[doc(inline)]
pub use crate::bindings::dataset::bench::host::tokenizer::Tokenizer;
#[doc(inline)]
pub use crate::bindings::engine::bench::engine::requests::{Message, Part, Prompt, Role, Sampling};
#[doc(inline)]
pub use contract::{Manifest, Note, SourceNeed, TokenizerNeed};

/// A dataset: turns granted data, or nothing but a seed, into neutral samples.
pub trait Dataset {
    /// An opened data set.
    type Reader: Reader + 'static;

    /// What it is and what it takes. The same answer on every call.
    fn describe() -> Manifest;

    /// Looks at the settings together. Errors among the diagnostics stop the run.
    fn check(settings: &Settings) -> Vec<Diagnostic> {
        let _ = settings;
        Vec::new()
    }

    /// Whether these settings need the tokenizer of the model.
    fn needs_tokenizer(settings: &Settings) -> TokenizerNeed {
        let _ = settings;
        TokenizerNeed::Never
    }

    /// Opens it. Two opened with equal inputs must yield equal samples.
    fn open(inputs: Inputs) -> Result<Self::Reader, Error>;
}

/// Yields the samples of an opened data set.
pub trait Reader {
    /// Samples there are, where that is known without reading everything.
    fn count(&self) -> Option<u64> {
        None
    }

    /// The next ones, at most `max`; empty at the end.
    fn next(&mut self, max: u32) -> Result<Vec<Sample>, Error>;

    /// What there is to say of the samples yielded so far.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }
}

/// What a run hands over. Everything the adapter may use is in here.
#[derive(Debug)]
pub struct Inputs {
    /// Validated settings.
    pub settings: Settings,
    /// The files that the user granted; [`Source::id`] is the key of the setting.
    pub sources: Vec<Source>,
    /// The tokenizer of the model, where there is one.
    pub tokenizer: Option<Tokenizer>,
    /// `seeds.samples` of the workload: what other tools call `--seed`.
    pub seed: u64,
    /// Samples the run will take. A reader may yield fewer, never more.
    pub wanted: u64,
}

impl Inputs {
    /// Takes the source of this setting out.
    pub fn take_source(&mut self, key: &str) -> Option<Source> {
        let at = self.sources.iter().position(|source| source.id() == key)?;
        Some(self.sources.swap_remove(at))
    }
}

impl Batch {
    /// The records one after another: offset in the source, bytes.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(self.ends.iter().copied()).map(|(start, end)| start as usize..end as usize);
        self.offsets.iter().copied().zip(ranges.map(|range| &self.bytes[range]))
    }
}

impl Sample {
    /// A sample with nothing but an id and a prompt.
    pub fn new(id: impl Into<String>, prompt: Prompt) -> Sample {
        Sample {
            id: id.into(),
            prompt,
            prompt_tokens: None,
            output_tokens: None,
            sampling: None,
            tools: None,
            json_schema: None,
            session: None,
            turn: None,
            timestamp: None,
            labels: Vec::new(),
        }
    }
}

/// Stands between the contract and a [`Dataset`].
#[doc(hidden)]
pub struct Component<T>(PhantomData<T>);

/// Stands between the contract and a [`Reader`].
#[doc(hidden)]
pub struct ReaderResource<R>(RefCell<R>);

impl<T: Dataset> contract::Guest for Component<T> {
    type Reader = ReaderResource<T::Reader>;

    fn describe() -> Manifest {
        T::describe()
    }

    fn check(settings: Vec<crate::types::SettingValue>) -> Vec<Diagnostic> {
        T::check(&settings.into())
    }

    fn needs_tokenizer(settings: Vec<crate::types::SettingValue>) -> TokenizerNeed {
        T::needs_tokenizer(&settings.into())
    }

    fn open(inputs: contract::Inputs) -> Result<contract::Reader, Error> {
        let contract::Inputs { settings, sources, tokenizer, seed, wanted } = inputs;
        let reader = T::open(Inputs { settings: settings.into(), sources, tokenizer, seed, wanted })?;
        Ok(contract::Reader::new(ReaderResource(RefCell::new(reader))))
    }
}

impl<R: Reader + 'static> contract::GuestReader for ReaderResource<R> {
    fn count(&self) -> Option<u64> {
        self.0.borrow().count()
    }

    fn next(&self, max: u32) -> Result<Vec<Sample>, Error> {
        self.0.borrow_mut().next(max)
    }

    fn notes(&self) -> Vec<Note> {
        self.0.borrow().notes()
    }
}

/// Makes the crate a dataset component. Does nothing off wasm, so that the crate stays an ordinary one
/// with native tests.
#[macro_export]
macro_rules! export_dataset {
    ($dataset:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::dataset::Component<$dataset>;
    $crate::bindings::dataset::export_dataset_world!(Component with_types_in $crate::bindings::dataset);
        };
    };
}
