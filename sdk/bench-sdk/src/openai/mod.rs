//! Engines that speak OpenAI's HTTP protocol: chat completions and completions, streamed or not.
//!
//! A [`Dialect`] says where a server departs from the others; all else is common: the settings, the
//! endpoints, the bodies, and the plan by which the host reads the answers.
//!
//! ```
//! use bench_sdk::Settings;
//! use bench_sdk::openai::Dialect;
//! const DIALECT: Dialect = Dialect { ignore_eos: true, ..Dialect::OPENAI };
//! let settings = Settings::defaults(&DIALECT.settings());
//! assert_eq!(DIALECT.endpoints(&settings)[0].path, "/v1/chat/completions");
//! ```

mod body;
mod decode;
mod encode;
mod settings;

use crate::engine::{Endpoint, Features, Method, ModelList};
use crate::{Setting, Settings};
use settings::Api;

/// Where a server departs from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Takes token ids as the prompt of a completion.
    pub token_prompts: bool,
    /// Takes `ignore_eos`.
    pub ignore_eos: bool,
    /// Takes `min_tokens`.
    pub min_tokens: bool,
    /// Takes `top_k`.
    pub top_k: bool,
    /// Takes `stream_options.continuous_usage_stats`: usage with every event, so that an event that
    /// carries several tokens says so.
    pub continuous_usage: bool,
    /// Takes pictures.
    pub images: bool,
}

impl Dialect {
    /// What OpenAI documents and nothing else.
    pub const OPENAI: Dialect = Dialect {
        token_prompts: false,
        ignore_eos: false,
        min_tokens: false,
        top_k: false,
        continuous_usage: false,
        images: true,
    };

    /// The settings that the functions of a dialect read.
    pub fn settings(&self) -> Vec<Setting> {
        settings::settings(self)
    }

    /// What a server of this dialect can be asked for.
    pub fn features(&self) -> Features {
        let mut features = Features::CHAT
            | Features::TEXT_PROMPT
            | Features::STREAMING
            | Features::STOP_TEXTS
            | Features::SEED
            | Features::TOOLS
            | Features::REASONING
            | Features::USAGE_IN_STREAM
            | Features::JSON_SCHEMA;
        for (has, feature) in [
            (self.token_prompts, Features::TOKEN_PROMPT),
            (self.ignore_eos, Features::IGNORE_EOS),
            (self.min_tokens, Features::MIN_TOKENS),
            (self.images, Features::IMAGES),
        ] {
            if has {
                features = features | feature;
            }
        }
        features
    }

    /// The one endpoint that the settings choose.
    pub fn endpoints(&self, settings: &Settings) -> Vec<Endpoint> {
        let path = match Api::of(settings) {
            Api::Chat => "chat/completions",
            Api::Completions => "completions",
        };
        vec![Endpoint {
            method: Method::Post,
            path: format!("{}/{path}", settings::base_path(settings)),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        }]
    }

    /// Where the server lists its models. `context` is the place of a model's longest context in an
    /// element of the list, where the server says it (`/max_model_len`).
    pub fn models(&self, settings: &Settings, context: Option<&str>) -> ModelList {
        ModelList {
            path: format!("{}/models", settings::base_path(settings)),
            list: "/data".to_owned(),
            id: "/id".to_owned(),
            context: context.map(str::to_owned),
        }
    }
}
