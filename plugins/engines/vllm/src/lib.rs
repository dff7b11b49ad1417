//! Engine adapter: vLLM.

mod options;

use bench_sdk::command;
use bench_sdk::engine::{
    Engine, HttpVersion, LaunchRequest, Manifest, Meaning, MetricsEndpoint, Plan, Probe, Process, Program, Server,
    StopRule, VersionProbe,
};
use bench_sdk::launch::{LONG_START_MS, check_devices, product, served_name_args, size_facts};
use bench_sdk::openai::Dialect;
use bench_sdk::{Diagnostic, Error, Settings};

/// Sizes that multiply to the devices of a replica.
const SIZES: [&str; 4] =
    ["tensor-parallel-size", "pipeline-parallel-size", "data-parallel-size", "prefill-context-parallel-size"];

/// After these the server never answers, though some of its processes may live on.
const FATAL: [&str; 6] = [
    "CUDA out of memory",
    "torch.OutOfMemoryError",
    "No available memory for the cache blocks",
    "Free memory on device",
    "Engine core initialization failed",
    "WorkerProc initialization failed",
];

/// vLLM.
#[derive(Debug)]
pub struct Vllm;

impl Engine for Vllm {
    const DIALECT: Dialect = Dialect {
        token_prompts: true,
        ignore_eos: true,
        min_tokens: true,
        top_k: true,
        continuous_usage: true,
        ..Dialect::OPENAI
    };

    fn describe() -> Manifest {
        Manifest {
            info: bench_sdk::info!("vllm", "vLLM"),
            engine: "vLLM".to_owned(),
            engine_versions: ">=0.11, <1.0".to_owned(),
            programs: vec![Program {
                name: "vllm".to_owned(),
                doc: "vLLM's command line, as `pip install vllm` puts it.".to_owned(),
                version: VersionProbe::Command(vec!["--version".to_owned()]),
            }],
            launchable: true,
            default_port: Some(8000),
            env: Vec::new(),
            secrets: Vec::new(),
            settings: [command::settings(&options::all()), Self::DIALECT.settings()].concat(),
            features: Self::DIALECT.features(),
        }
    }

    fn check(launch: &LaunchRequest, settings: &Settings) -> Vec<Diagnostic> {
        let mut found = Vec::from_iter(check_devices(launch, product(settings, &SIZES), "tensor-parallel-size"));
        let pair = |key: &str| settings.integer(key).map(|value| (key.to_owned(), value));
        if let (Some((key, tokens)), Some((_, context))) = (pair("max-num-batched-tokens"), pair("max-model-len"))
            && settings.boolean("enable-chunked-prefill") == Some(false)
            && tokens < context
        {
            let message = format!("{tokens} tokens a step can't hold a prompt of {context} tokens that is not split");
            found.push(
                Diagnostic::error(message).key(key).help("raise it to `max-model-len`, or allow chunked prefill"),
            );
        }
        if settings.flag("enable-auto-tool-choice") && settings.text("tool-call-parser").is_none() {
            let message = "`enable-auto-tool-choice` needs a `tool-call-parser`";
            found.push(Diagnostic::error(message).key("enable-auto-tool-choice").help("set `tool-call-parser` too"));
        }
        found
    }

    fn launch(launch: &LaunchRequest, settings: &Settings) -> Result<Plan, Error> {
        let mut args = vec!["serve".to_owned(), launch.model.location.clone()];
        args.extend(command::args(&options::all(), settings));
        if let Some(revision) = &launch.model.revision {
            args.extend(["--revision".to_owned(), revision.clone()]);
        }
        args.extend(served_name_args(launch, "--served-model-name"));
        let ready = Probe::http("/health", 500, LONG_START_MS, &FATAL);
        let server = Process::server(launch, "vllm", args, ready, StopRule::terminate(20_000))?;
        let facts = size_facts(
            settings,
            &[
                ("tensor-parallel", "tensor-parallel-size"),
                ("pipeline-parallel", "pipeline-parallel-size"),
                ("data-parallel", "data-parallel-size"),
            ],
        );
        Ok(Plan::single(server, facts))
    }

    fn server(settings: &Settings) -> Result<Server, Error> {
        let metrics = MetricsEndpoint::prometheus(
            "/metrics",
            &[
                (Meaning::RequestsRunning, "vllm:num_requests_running"),
                (Meaning::RequestsWaiting, "vllm:num_requests_waiting"),
                (Meaning::RequestsPreempted, "vllm:num_preemptions_total"),
                (Meaning::KvCacheUsed, "vllm:kv_cache_usage_perc"),
                (Meaning::PromptTokensCached, "vllm:prefix_cache_hits_total"),
                (Meaning::PromptTokens, "vllm:prompt_tokens_total"),
                (Meaning::GeneratedTokens, "vllm:generation_tokens_total"),
                (Meaning::DraftTokens, "vllm:spec_decode_num_draft_tokens_total"),
                (Meaning::DraftTokensAccepted, "vllm:spec_decode_num_accepted_tokens_total"),
            ],
        );
        Ok(Server {
            ready: "/health".to_owned(),
            models: Some(Self::DIALECT.models(settings, Some("/max_model_len"))),
            version: VersionProbe::Http(HttpVersion { path: "/version".to_owned(), pointer: "/version".to_owned() }),
            metrics: if settings.flag("disable-log-stats") { Vec::new() } else { vec![metrics] },
        })
    }
}

bench_sdk::export_engine!(Vllm);
