//! An adapter of any version of the contract.

use super::v0_1;
use crate::catalog::AdapterSource;
use crate::error::{CallError, PluginError};
use crate::granted::GrantedFile;
use crate::runtime::Runtime;
use crate::tokenizer::Tokenizer;
use bench_core::adapter::{AdapterDiagnostic, DatasetManifest, EngineManifest, Settings, TokenizerNeed};
use bench_core::decode::{DecodeError, Decoded, FramedResponse, StreamFormat};
use bench_core::launch::{LaunchPlan, LaunchRequest, ServerInfo};
use bench_core::request::{EncodedRequest, Endpoint, RequestSpec};
use bench_core::sample::{Sample, SampleNote};
use std::sync::Arc;
use wasmtime::component::Component;

/// The newest version of the contract.
pub(crate) const NEWEST: &str = v0_1::VERSION;

/// What an engine adapter exports. Every call gets an instance of its own, so that no call can change what
/// another answers, and a call that failed leaves nothing behind. Answers are converted, not verified.
pub(crate) trait EngineGuest: Send + Sync {
    fn describe(&self) -> Result<EngineManifest, CallError>;
    fn check(&self, launch: &LaunchRequest) -> Result<Vec<AdapterDiagnostic>, CallError>;
    fn ports_needed(&self, settings: &Settings) -> Result<u32, CallError>;
    fn launch(&self, launch: &LaunchRequest) -> Result<LaunchPlan, CallError>;
    fn server(&self, settings: &Settings) -> Result<ServerInfo, CallError>;
    fn endpoints(&self, settings: &Settings) -> Result<Vec<Endpoint>, CallError>;
    fn encode(
        &self,
        served_as: &str,
        settings: &Settings,
        requests: &[RequestSpec],
    ) -> Result<Vec<EncodedRequest>, CallError>;
    fn decoding(&self, settings: &Settings) -> Result<StreamFormat, CallError>;
    /// One answer a response, if the adapter keeps to the contract.
    fn decode(&self, responses: Vec<FramedResponse>) -> Result<Vec<Result<Decoded, DecodeError>>, CallError>;
}

/// What a dataset adapter exports.
pub(crate) trait DatasetGuest: Send + Sync {
    fn describe(&self) -> Result<DatasetManifest, CallError>;
    fn check(&self, settings: &Settings) -> Result<Vec<AdapterDiagnostic>, CallError>;
    fn needs_tokenizer(&self, settings: &Settings) -> Result<TokenizerNeed, CallError>;
    /// The reader keeps the instance in which it was opened.
    fn open(&self, inputs: Inputs) -> Result<Box<dyn ReaderGuest>, CallError>;
}

/// What a dataset is opened with.
pub(crate) struct Inputs {
    pub(crate) settings: Settings,
    pub(crate) sources: Vec<GrantedFile>,
    pub(crate) tokenizer: Option<Arc<Tokenizer>>,
    pub(crate) seed: u64,
    pub(crate) wanted: u64,
}

/// An opened dataset. After a failed call none may follow.
pub(crate) trait ReaderGuest: Send {
    fn count(&mut self) -> Result<Option<u64>, CallError>;
    fn next(&mut self, max: u32) -> Result<Vec<Sample>, CallError>;
    fn notes(&mut self) -> Result<Vec<SampleNote>, CallError>;
}

/// Compiles an engine adapter for the version that it was built for.
pub(crate) fn load_engine(runtime: &Arc<Runtime>, source: &AdapterSource) -> Result<Box<dyn EngineGuest>, PluginError> {
    let component = compile(runtime, source)?;
    let guest = v0_1::Engine::load(runtime, &source.id, &component).map_err(|what| load_error(source, what))?;
    Ok(Box::new(guest))
}

/// Compiles a dataset adapter for the version that it was built for.
pub(crate) fn load_dataset(
    runtime: &Arc<Runtime>,
    source: &AdapterSource,
) -> Result<Box<dyn DatasetGuest>, PluginError> {
    let component = compile(runtime, source)?;
    let guest = v0_1::Dataset::load(runtime, &source.id, &component).map_err(|what| load_error(source, what))?;
    Ok(Box::new(guest))
}

/// Checks version and powers, which need no compiled code, then compiles.
fn compile(runtime: &Runtime, source: &AdapterSource) -> Result<Component, PluginError> {
    let kind = source.kind;
    if source.contract != v0_1::VERSION {
        let what = format!(
            "it was built for `bench:{kind}/adapter@{}`, and this program speaks `bench:{kind}/adapter@{}`; \
             rebuild it against that version, or take a program that speaks its own",
            source.contract,
            v0_1::VERSION
        );
        return Err(load_error(source, what));
    }
    let granted = v0_1::imports(kind);
    let refused: Vec<String> =
        source.imports().iter().filter(|i| !granted.contains(&i.as_str())).map(|i| format!("`{i}`")).collect();
    if !refused.is_empty() {
        let what = format!(
            "it imports {}, which {kind} adapters are not granted; build it so that it needs no more than {}",
            refused.join(", "),
            granted.iter().map(|i| format!("`{i}`")).collect::<Vec<_>>().join(", ")
        );
        return Err(load_error(source, what));
    }
    runtime.compile(&source.bytes).map_err(|what| load_error(source, what))
}

fn load_error(source: &AdapterSource, what: String) -> PluginError {
    PluginError::Load { adapter: source.id.clone(), what }
}
