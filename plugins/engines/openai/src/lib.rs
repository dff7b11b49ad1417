//! Engine adapter: any running server that speaks OpenAI's protocol.

use bench_sdk::engine::{Endpoint, Engine, LaunchRequest, Manifest, Server, VersionProbe};
use bench_sdk::openai::Dialect;
use bench_sdk::{Diagnostic, Error, Setting, Settings};

/// Any server that speaks OpenAI's protocol.
#[derive(Debug)]
pub struct OpenAi;

impl Engine for OpenAi {
    const DIALECT: Dialect = Dialect { token_prompts: true, ..Dialect::OPENAI };

    fn describe() -> Manifest {
        Manifest {
            info: bench_sdk::info!("openai", "OpenAI-compatible server"),
            engine: "any server that speaks OpenAI's protocol".to_owned(),
            engine_versions: "*".to_owned(),
            programs: Vec::new(),
            launchable: false,
            default_port: None,
            env: Vec::new(),
            secrets: Vec::new(),
            settings: [settings(), Self::DIALECT.settings()].concat(),
            features: Self::DIALECT.features(),
        }
    }

    fn check(_: &LaunchRequest, settings: &Settings) -> Vec<Diagnostic> {
        Vec::from_iter(key_in_headers(settings))
    }

    fn server(settings: &Settings) -> Result<Server, Error> {
        let models = Self::DIALECT.models(settings, Some("/max_model_len"));
        Ok(Server {
            ready: models.path.clone(),
            models: Some(models),
            version: VersionProbe::None,
            metrics: Vec::new(),
        })
    }

    fn endpoints(settings: &Settings) -> Result<Vec<Endpoint>, Error> {
        if let Some(diagnostic) = key_in_headers(settings) {
            return Err(diagnostic.into());
        }
        let mut endpoints = Self::DIALECT.endpoints(settings);
        for endpoint in &mut endpoints {
            endpoint.headers.extend(settings.text_map("headers").iter().cloned());
        }
        Ok(endpoints)
    }
}

/// Headers are shown and recorded with the plan, so that a key among them is no secret any more.
fn key_in_headers(settings: &Settings) -> Option<Diagnostic> {
    let secret = ["authorization", "api-key", "x-api-key"];
    let headers = settings.text_map("headers");
    let (name, _) = headers.iter().find(|(name, _)| secret.iter().any(|s| name.eq_ignore_ascii_case(s)))?;
    let help = "leave it out; the key comes from the environment and is never written down";
    Some(Diagnostic::error(format!("the header `{name}` would put a key into the plan")).key("headers").help(help))
}

fn settings() -> Vec<Setting> {
    let fields = [
        ("max_completion_tokens", "What OpenAI documents for chats today."),
        ("max_tokens", "What it was before, and what some servers know alone."),
    ];
    vec![
        Setting::text("base-path")
            .default("/v1")
            .doc("Path before `/chat/completions`, `/completions` and `/models`, where a server has another."),
        Setting::choice("max-tokens-field", &fields).doc(
            "Name of the field that limits the answer's length. Without it `max_completion_tokens` for chats, \
             `max_tokens` for completions.",
        ),
        Setting::boolean("include-usage").default(true).doc(
            "Ask for token counts at the end of a stream by `stream_options`. Servers that refuse the field need \
             `false`; tokens are then counted by the tokenizer.",
        ),
        Setting::text_map("headers").doc(
            "Headers that every request carries. Not for keys: the key comes from the environment, and is never \
             written down.",
        ),
    ]
}

bench_sdk::export_engine!(OpenAi);
