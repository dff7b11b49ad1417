//! Engine adapters of this version.

use super::bindings::engine::exports::bench::engine::adapter::Guest;
use super::bindings::engine::{EngineAdapter, EngineAdapterPre};
use super::{from_guest, launching, to_guest};
use crate::error::CallError;
use crate::runtime::Runtime;
use crate::state::HostState;
use crate::wit::EngineGuest;
use bench_core::adapter::{AdapterDiagnostic, EngineManifest, Program, Settings};
use bench_core::decode::{DecodeError, Decoded, FramedResponse, StreamFormat};
use bench_core::launch::{LaunchPlan, LaunchRequest, ServerInfo};
use bench_core::request::{EncodedRequest, Endpoint, RequestSpec};
use std::sync::Arc;
use std::time::Duration;
use wasmtime::Store;
use wasmtime::component::{Component, HasSelf, Linker};

/// A compiled adapter.
pub(crate) struct Engine {
    runtime: Arc<Runtime>,
    adapter: String,
    pre: EngineAdapterPre<HostState>,
}

impl Engine {
    /// Links a component; the error says what doesn't fit.
    pub(crate) fn load(runtime: &Arc<Runtime>, adapter: &str, component: &Component) -> Result<Engine, String> {
        let mut linker = Linker::new(&runtime.engine);
        EngineAdapter::add_to_linker::<_, HasSelf<_>>(&mut linker, |s| s).map_err(|e| format!("{e:#}"))?;
        let pre = linker.instantiate_pre(component).and_then(EngineAdapterPre::new);
        let pre = pre.map_err(|e| format!("it doesn't fit the world `engine-adapter`: {e:#}"))?;
        Ok(Engine { runtime: runtime.clone(), adapter: adapter.to_owned(), pre })
    }

    fn call<T>(
        &self,
        deadline: Duration,
        f: impl FnOnce(&Guest, &mut Store<HostState>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let mut store = self.runtime.store(&self.adapter, &self.runtime.limits.engine);
        self.runtime.call(&mut store, deadline, |store| {
            let instance = self.pre.instantiate(&mut *store)?;
            f(instance.bench_engine_adapter(), store)
        })
    }

    /// A call that plans.
    fn plan<T>(&self, f: impl FnOnce(&Guest, &mut Store<HostState>) -> wasmtime::Result<T>) -> Result<T, CallError> {
        self.call(self.runtime.limits.deadlines.plan, f)
    }
}

impl EngineGuest for Engine {
    fn describe(&self) -> Result<EngineManifest, CallError> {
        let m = self.call(self.runtime.limits.deadlines.describe, |g, s| g.call_describe(s))?;
        let program = |p: super::bindings::engine::exports::bench::engine::adapter::Program| Program {
            name: p.name,
            doc: p.doc,
            version: launching::version_probe(p.version),
        };
        Ok(EngineManifest {
            info: from_guest::info(m.info),
            engine: m.engine,
            engine_versions: m.engine_versions,
            programs: m.programs.into_iter().map(program).collect(),
            launchable: m.launchable,
            default_port: m.default_port,
            env: m.env,
            secrets: m.secrets,
            settings: m.settings.into_iter().map(from_guest::setting).collect(),
            features: from_guest::features(m.features),
        })
    }

    fn check(&self, launch: &LaunchRequest) -> Result<Vec<AdapterDiagnostic>, CallError> {
        let launch = to_guest::launch(launch);
        self.plan(|g, s| g.call_check(s, &launch)).map(from_guest::diagnostics)
    }

    fn ports_needed(&self, settings: &Settings) -> Result<u32, CallError> {
        let settings = to_guest::settings(settings);
        from_guest::answer(self.plan(|g, s| g.call_ports_needed(s, &settings))?)
    }

    fn launch(&self, launch: &LaunchRequest) -> Result<LaunchPlan, CallError> {
        let launch = to_guest::launch(launch);
        from_guest::answer(self.plan(|g, s| g.call_launch(s, &launch))?).map(launching::plan)
    }

    fn server(&self, settings: &Settings) -> Result<ServerInfo, CallError> {
        let settings = to_guest::settings(settings);
        from_guest::answer(self.plan(|g, s| g.call_server(s, &settings))?).map(launching::server)
    }

    fn endpoints(&self, settings: &Settings) -> Result<Vec<Endpoint>, CallError> {
        let settings = to_guest::settings(settings);
        let endpoints = from_guest::answer(self.plan(|g, s| g.call_endpoints(s, &settings))?)?;
        Ok(endpoints.into_iter().map(from_guest::endpoint).collect())
    }

    fn encode(
        &self,
        served_as: &str,
        settings: &Settings,
        requests: &[RequestSpec],
    ) -> Result<Vec<EncodedRequest>, CallError> {
        let settings = to_guest::settings(settings);
        let requests: Vec<_> = requests.iter().map(to_guest::request).collect();
        let deadline = self.runtime.limits.deadlines.exchange;
        let encoded =
            from_guest::answer(self.call(deadline, |g, s| g.call_encode(s, served_as, &settings, &requests))?)?;
        Ok(encoded.into_iter().map(|e| EncodedRequest { endpoint: e.endpoint, body: e.body }).collect())
    }

    fn decoding(&self, settings: &Settings) -> Result<StreamFormat, CallError> {
        let settings = to_guest::settings(settings);
        from_guest::answer(self.plan(|g, s| g.call_decoding(s, &settings))?).map(from_guest::stream_format)
    }

    fn decode(&self, responses: Vec<FramedResponse>) -> Result<Vec<Result<Decoded, DecodeError>>, CallError> {
        let frames: Vec<usize> = responses.iter().map(|r| r.frames.len()).collect();
        let responses: Vec<_> = responses.into_iter().map(to_guest::response).collect();
        let decoded = self.call(self.runtime.limits.deadlines.exchange, |g, s| g.call_decode(s, &responses))?;
        if decoded.len() != frames.len() {
            return Err(CallError::Contract(format!("{} responses came back for {}", decoded.len(), frames.len())));
        }
        let one = |(answer, frames): (Result<_, _>, usize)| match answer {
            Ok(d) => from_guest::decoded(d, frames),
            Err(e) => Err(from_guest::decode_error(e)),
        };
        Ok(decoded.into_iter().zip(frames).map(one).collect())
    }
}
