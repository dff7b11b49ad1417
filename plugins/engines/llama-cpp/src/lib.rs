//! Engine adapter: llama.cpp.
//!
//! Its server closes the connection after every streamed answer, whatever its headers say; the host
//! notices that before it uses a connection again.

mod options;

use bench_sdk::command;
use bench_sdk::engine::{
    Engine, HttpVersion, LaunchRequest, Manifest, Meaning, MetricsEndpoint, Plan, Probe, Process, Program, Server,
    StopRule, VersionProbe,
};
use bench_sdk::launch::LONG_START_MS;
use bench_sdk::openai::Dialect;
use bench_sdk::{Diagnostic, Error, Settings};

/// After these the server never answers.
const FATAL: [&str; 5] = [
    "error loading model",
    "failed to load model",
    "cudaMalloc failed: out of memory",
    "failed to allocate buffer for kv cache",
    "couldn't bind HTTP server socket",
];

/// llama.cpp.
#[derive(Debug)]
pub struct LlamaCpp;

impl Engine for LlamaCpp {
    const DIALECT: Dialect = Dialect { token_prompts: true, ignore_eos: true, top_k: true, ..Dialect::OPENAI };

    fn describe() -> Manifest {
        Manifest {
            info: bench_sdk::info!("llama-cpp", "llama.cpp"),
            engine: "llama.cpp".to_owned(),
            // It counts builds.
            engine_versions: "*".to_owned(),
            programs: vec![Program {
                name: "llama-server".to_owned(),
                doc: "llama.cpp's HTTP server.".to_owned(),
                // The only dotted number that it prints is that of the compiler.
                version: VersionProbe::None,
            }],
            launchable: true,
            default_port: Some(8080),
            env: Vec::new(),
            secrets: Vec::new(),
            settings: [command::settings(&options::all()), Self::DIALECT.settings()].concat(),
            features: Self::DIALECT.features(),
        }
    }

    fn check(launch: &LaunchRequest, settings: &Settings) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if let (Some(batch), Some(ubatch)) = (settings.integer("batch-size"), settings.integer("ubatch-size"))
            && ubatch > batch
        {
            let message = format!("`ubatch-size` {ubatch} is more than `batch-size` {batch}, and so not reached");
            found.push(Diagnostic::warning(message).key("ubatch-size").help("raise `batch-size` to it"));
        }
        if settings.integer("n-gpu-layers") == Some(0) && !launch.devices.is_empty() {
            let message = format!("no layer runs on the {} devices of a replica", launch.devices.len());
            let help = "raise `n-gpu-layers`, or set no devices aside under `[engine.launch]`";
            found.push(Diagnostic::warning(message).key("n-gpu-layers").help(help));
        }
        if settings.integer("draft-max").is_some() && settings.text("model-draft").is_none() {
            let message = "`draft-max` without a draft model is not used";
            found.push(Diagnostic::warning(message).key("draft-max").help("set `model-draft` too"));
        }
        found
    }

    fn launch(launch: &LaunchRequest, settings: &Settings) -> Result<Plan, Error> {
        let model = &launch.model;
        // A file is a file; all else is the name of a repository that it fetches by itself.
        let from = if is_file(&model.location) { "--model" } else { "--hf-repo" };
        let mut args = [from, &model.location, "--alias", &model.served_as].map(str::to_owned).to_vec();
        args.extend(command::args(&options::all(), settings));
        let ready = Probe::http("/health", 100, LONG_START_MS, &FATAL);
        let server = Process::server(launch, "llama-server", args, ready, StopRule::terminate(10_000))?;
        Ok(Plan::single(server, Vec::new()))
    }

    fn server(settings: &Settings) -> Result<Server, Error> {
        let metrics = MetricsEndpoint::prometheus(
            "/metrics",
            &[
                (Meaning::RequestsRunning, "llamacpp:requests_processing"),
                (Meaning::RequestsWaiting, "llamacpp:requests_deferred"),
                (Meaning::PromptTokensCached, "llamacpp:prompt_tokens_cached_total"),
                // Without those that were cached.
                (Meaning::PromptTokens, "llamacpp:prompt_tokens_total"),
                (Meaning::GeneratedTokens, "llamacpp:tokens_predicted_total"),
                (Meaning::DraftTokens, "llamacpp:spec_decode_num_draft_tokens_total"),
                (Meaning::DraftTokensAccepted, "llamacpp:spec_decode_num_accepted_tokens_total"),
            ],
        );
        let version = HttpVersion { path: "/props".to_owned(), pointer: "/build_info".to_owned() };
        Ok(Server {
            ready: "/health".to_owned(),
            models: Some(Self::DIALECT.models(settings, Some("/meta/n_ctx"))),
            version: VersionProbe::Http(version),
            metrics: if settings.flag("metrics") { vec![metrics] } else { Vec::new() },
        })
    }
}

fn is_file(location: &str) -> bool {
    location.ends_with(".gguf") || location.starts_with(['/', '.'])
}

bench_sdk::export_engine!(LlamaCpp);
