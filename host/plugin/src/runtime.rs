//! The WebAssembly runtime: one engine, one clock of deadlines, and how a call ends.

use crate::error::{CallError, PluginError};
use crate::limits::{KindLimits, Limits, bytes};
use crate::state::{Breach, HostState};
use crate::ticker::{TICK, Ticker};
use crate::tokenizer::TokenizerError;
use std::path::Path;
use std::time::Duration;
use wasmtime::component::Component;
use wasmtime::{Cache, CacheConfig, Config, Engine, Store, Trap};

/// Shared by all adapters of a host.
pub(crate) struct Runtime {
    pub(crate) engine: Engine,
    pub(crate) limits: Limits,
    ticker: Ticker,
}

impl Runtime {
    pub(crate) fn new(cache_dir: Option<&Path>, limits: Limits) -> Result<Runtime, PluginError> {
        let failed = |e: wasmtime::Error| PluginError::Runtime { what: format!("{e:#}") };
        let mut config = Config::new();
        config.epoch_interruption(true);
        if let Some(dir) = cache_dir {
            let mut cache = CacheConfig::new();
            cache.with_directory(dir);
            config.cache(Some(Cache::new(cache).map_err(failed)?));
        }
        let engine = Engine::new(&config).map_err(failed)?;
        // Weak, so that the ticker never keeps compiled code alive.
        let weak = engine.weak();
        let ticker = Ticker::start(move || {
            if let Some(engine) = weak.upgrade() {
                engine.increment_epoch();
            }
        })
        .map_err(|e| PluginError::Runtime { what: format!("failed to start its clock: {e}") })?;
        Ok(Runtime { engine, limits, ticker })
    }

    /// Compiles a component, or takes it from the cache.
    pub(crate) fn compile(&self, bytes: &[u8]) -> Result<Component, String> {
        Component::from_binary(&self.engine, bytes).map_err(|e| format!("it can't be compiled: {e:#}"))
    }

    /// A store for one instance.
    pub(crate) fn store(&self, adapter: &str, limits: &KindLimits) -> Store<HostState> {
        let mut store = Store::new(&self.engine, HostState::new(adapter, limits));
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(limits.output_bytes);
        store
    }

    /// Runs one call under its deadline, and says why it failed if it did. After a failure the instance
    /// must not be used again.
    pub(crate) fn call<T>(
        &self,
        store: &mut Store<HostState>,
        deadline: Duration,
        f: impl FnOnce(&mut Store<HostState>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let ticks = deadline.as_millis().div_ceil(TICK.as_millis()) as u64;
        // The first tick may come at once.
        store.set_epoch_deadline(ticks + 1);
        store.data_mut().log.open();
        let result = {
            let _running = self.ticker.run();
            f(store)
        };
        let state = store.data_mut();
        state.log.close();
        result.map_err(|e| explain(&e, state, deadline))
    }
}

/// What the end of a call means to a person.
fn explain(e: &wasmtime::Error, state: &HostState, deadline: Duration) -> CallError {
    if let Some(breach) = e.downcast_ref::<Breach>() {
        return CallError::Contract(breach.0.clone());
    }
    if let Some(failed) = e.downcast_ref::<TokenizerError>() {
        return CallError::Fault(failed.to_string());
    }
    let last_words = state.log.last_error.as_ref().map(|w| format!("; its last words were: {w}")).unwrap_or_default();
    if e.downcast_ref::<Trap>() == Some(&Trap::Interrupt) {
        return CallError::Fault(format!("it ran longer than the {deadline:?} that the call may take{last_words}"));
    }
    if let Some(wanted) = state.limiter.refused {
        let limit = bytes(state.limiter.limit());
        return CallError::Fault(format!("it wanted {wanted} bytes of memory; the limit is {limit}{last_words}"));
    }
    match e.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => {
            CallError::Fault(format!("its call stack is exhausted (a recursion without end?){last_words}"))
        }
        Some(Trap::MemoryOutOfBounds) => {
            CallError::Fault(format!("it reached outside its memory (a recursion without end, or a bug){last_words}"))
        }
        Some(Trap::UnreachableCodeReached) => CallError::Fault(format!("it panicked{last_words}")),
        Some(trap) => CallError::Fault(format!("{trap}{last_words}")),
        None => {
            let what = format!("{:#}", e.root_cause());
            // The runtime's error has no type of its own to tell it by.
            if what.contains("fuel allocated for hostcalls has been exhausted") {
                let limit = bytes(state.output_bytes);
                return CallError::Fault(format!("it handed over more than the {limit} that a call may{last_words}"));
            }
            CallError::Contract(what)
        }
    }
}
