//! Writing an engine adapter.
//!
//! An engine adapter is a set of pure functions: it says how to launch the engine, what to send and how
//! to read what came back; the host does it. The defaults of [`Engine`] speak OpenAI's protocol
//! ([`crate::openai`]), so that an engine which does needs little more than its options:
//!
//! ```
//! use bench_sdk::engine::{Engine, Manifest, Server, VersionProbe};
//! use bench_sdk::openai::Dialect;
//! use bench_sdk::{Error, Settings};
//!
//! struct Mine;
//!
//! impl Engine for Mine {
//!     const DIALECT: Dialect = Dialect { ignore_eos: true, ..Dialect::OPENAI };
//!
//!     fn describe() -> Manifest {
//!         Manifest {
//!             info: bench_sdk::info!("mine", "Mine"),
//!             engine: "Mine".into(),
//!             engine_versions: "*".into(),
//!             programs: vec![],
//!             launchable: false,
//!             default_port: Some(8000),
//!             env: vec![],
//!             secrets: vec![],
//!             settings: Self::DIALECT.settings(),
//!             features: Self::DIALECT.features(),
//!         }
//!     }
//!
//!     fn server(settings: &Settings) -> Result<Server, Error> {
//!         Ok(Server {
//!             ready: "/health".into(),
//!             models: Some(Self::DIALECT.models(settings, None)),
//!             version: VersionProbe::None,
//!             metrics: vec![],
//!         })
//!     }
//! }
//!
//! bench_sdk::export_engine!(Mine);
//! # fn main() {}
//! ```

use crate::bindings::engine::exports::bench::engine::adapter as contract;
use crate::openai::Dialect;
use crate::types::SettingValue;
use crate::{Diagnostic, Error, Settings};
use std::marker::PhantomData;

#[doc(inline)]
pub use crate::bindings::engine::bench::engine::launch::{
    Check, Device, EnvValue, EnvVar, File, HttpVersion, Meaning, MetricsEndpoint, MetricsFormat, Model, ModelList,
    Plan, Probe, Process, Request as LaunchRequest, Series, Server, Signal, StopRule, Vendor, VersionProbe,
};
#[doc(inline)]
pub use crate::bindings::engine::bench::engine::requests::{
    Encoded, Endpoint, Features, Message, Method, Part, Prompt, Request, Role, Sampling,
};
#[doc(inline)]
pub use crate::bindings::engine::bench::engine::responses::{
    DecodeError, DecodePlan, Decoded, Decoder, EventKind, Failure, Finish, FinishReason, Framing, Response, Rule, Take,
    ToolCall, Usage,
};
#[doc(inline)]
pub use contract::{Manifest, Program};

/// An engine: how to launch it, what to send and how to read what comes back.
pub trait Engine {
    /// How it departs from OpenAI's protocol. Read by the defaults of [`Engine::endpoints`],
    /// [`Engine::encode`] and [`Engine::decoding`]; without a meaning where all three are overridden.
    const DIALECT: Dialect = Dialect::OPENAI;

    /// What it is and what it may ever ask for. The same answer on every call.
    fn describe() -> Manifest;

    /// Looks at a whole launch without building it. Errors among the diagnostics stop the run. `launch`
    /// has its settings in `settings`.
    fn check(launch: &LaunchRequest, settings: &Settings) -> Vec<Diagnostic> {
        let _ = (launch, settings);
        Vec::new()
    }

    /// Number of ports that one replica needs.
    fn ports_needed(settings: &Settings) -> Result<u32, Error> {
        let _ = settings;
        Ok(1)
    }

    /// What to start. Engines that can only be attached to leave it as it is.
    fn launch(launch: &LaunchRequest, settings: &Settings) -> Result<Plan, Error> {
        let _ = (launch, settings);
        Err(Error::unsupported("launching: this engine can only be attached to"))
    }

    /// What to ask a server that is up.
    fn server(settings: &Settings) -> Result<Server, Error>;

    /// Where requests go, in the order of [`Encoded::endpoint`].
    fn endpoints(settings: &Settings) -> Result<Vec<Endpoint>, Error> {
        Ok(Self::DIALECT.endpoints(settings))
    }

    /// Requests as HTTP. Called ahead of time with batches.
    fn encode(served_as: &str, settings: &Settings, requests: Vec<Request>) -> Result<Vec<Encoded>, Error> {
        Self::DIALECT.encode(served_as, settings, &requests)
    }

    /// How answers are read.
    fn decoding(settings: &Settings) -> Result<Decoder, Error> {
        Ok(Self::DIALECT.decoding(settings))
    }

    /// Reads answers, one result each, in order. Only called with [`Decoder::Guest`].
    fn decode(responses: Vec<Response>) -> Vec<Result<Decoded, DecodeError>> {
        let unread = |_| DecodeError {
            what: "response".to_owned(),
            offset: None,
            message: "this adapter leaves decoding to the host".to_owned(),
        };
        responses.into_iter().map(|response| Err(unread(response))).collect()
    }
}

/// Stands between the contract and an [`Engine`].
#[doc(hidden)]
pub struct Component<T>(PhantomData<T>);

fn split(mut launch: LaunchRequest) -> (LaunchRequest, Settings) {
    let settings = std::mem::take(&mut launch.settings).into();
    (launch, settings)
}

impl<T: Engine> contract::Guest for Component<T> {
    fn describe() -> Manifest {
        T::describe()
    }

    fn check(launch: LaunchRequest) -> Vec<Diagnostic> {
        let (launch, settings) = split(launch);
        T::check(&launch, &settings)
    }

    fn ports_needed(settings: Vec<SettingValue>) -> Result<u32, Error> {
        T::ports_needed(&settings.into())
    }

    fn launch(launch: LaunchRequest) -> Result<Plan, Error> {
        let (launch, settings) = split(launch);
        T::launch(&launch, &settings)
    }

    fn server(settings: Vec<SettingValue>) -> Result<Server, Error> {
        T::server(&settings.into())
    }

    fn endpoints(settings: Vec<SettingValue>) -> Result<Vec<Endpoint>, Error> {
        T::endpoints(&settings.into())
    }

    fn encode(served_as: String, settings: Vec<SettingValue>, requests: Vec<Request>) -> Result<Vec<Encoded>, Error> {
        T::encode(&served_as, &settings.into(), requests)
    }

    fn decoding(settings: Vec<SettingValue>) -> Result<Decoder, Error> {
        T::decoding(&settings.into())
    }

    fn decode(responses: Vec<Response>) -> Vec<Result<Decoded, DecodeError>> {
        T::decode(responses)
    }
}

/// Makes the crate an engine component. Does nothing off wasm, so that the crate stays an ordinary one
/// with native tests.
#[macro_export]
macro_rules! export_engine {
    ($engine:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::engine::Component<$engine>;
    $crate::bindings::engine::export_engine_world!(Component with_types_in $crate::bindings::engine);
        };
    };
}
