//! Engine adapter: SGLang.

mod options;

use bench_sdk::command;
use bench_sdk::engine::{
    Engine, HttpVersion, LaunchRequest, Manifest, Meaning, MetricsEndpoint, Plan, Probe, Process, Program, Server,
    StopRule, VersionProbe,
};
use bench_sdk::launch::{LONG_START_MS, check_devices, product, served_name_args, size_facts};
use bench_sdk::openai::Dialect;
use bench_sdk::{Diagnostic, Error, Settings};

/// After these the server never answers, though some of its processes may live on.
const FATAL: [&str; 5] = [
    "CUDA out of memory",
    "torch.OutOfMemoryError",
    "Not enough memory. Please try to increase --mem-fraction-static",
    "Scheduler hit an exception",
    "Received sigquit from a child process",
];

/// SGLang.
#[derive(Debug)]
pub struct Sglang;

impl Engine for Sglang {
    const DIALECT: Dialect = Dialect {
        token_prompts: true,
        ignore_eos: true,
        min_tokens: true,
        top_k: true,
        continuous_usage: true,
        ..Dialect::OPENAI
    };

    fn describe() -> Manifest {
        let probe = ["-c", "import sglang; print(sglang.__version__)"];
        Manifest {
            info: bench_sdk::info!("sglang", "SGLang"),
            engine: "SGLang".to_owned(),
            engine_versions: ">=0.5, <1.0".to_owned(),
            programs: vec![Program {
                name: "python3".to_owned(),
                doc: "The Python that SGLang is installed in.".to_owned(),
                version: VersionProbe::Command(probe.map(str::to_owned).to_vec()),
            }],
            launchable: true,
            default_port: Some(30_000),
            env: Vec::new(),
            secrets: Vec::new(),
            settings: [command::settings(&options::all()), Self::DIALECT.settings()].concat(),
            features: Self::DIALECT.features(),
        }
    }

    fn check(launch: &LaunchRequest, settings: &Settings) -> Vec<Diagnostic> {
        let mut found = Vec::from_iter(check_devices(launch, devices(settings), "tp-size"));
        let size = |key| settings.unsigned(key).unwrap_or(1);
        if settings.flag("enable-dp-attention") && !size("tp-size").is_multiple_of(size("dp-size")) {
            let message = format!("`tp-size` {} is no multiple of `dp-size` {}", size("tp-size"), size("dp-size"));
            let help = "data parallel attention splits the tensor parallel devices evenly; choose a divisor";
            found.push(Diagnostic::error(message).key("dp-size").help(help));
        }
        if settings.text("speculative-draft-model-path").is_some() && settings.text("speculative-algorithm").is_none() {
            let message = "a draft model without `speculative-algorithm` is not used";
            found.push(
                Diagnostic::error(message).key("speculative-draft-model-path").help("set `speculative-algorithm` too"),
            );
        }
        found
    }

    fn launch(launch: &LaunchRequest, settings: &Settings) -> Result<Plan, Error> {
        let mut args =
            ["-m", "sglang.launch_server", "--model-path", &launch.model.location].map(str::to_owned).to_vec();
        args.extend(command::args(&options::all(), settings));
        if let Some(revision) = &launch.model.revision {
            args.extend(["--revision".to_owned(), revision.clone()]);
        }
        args.extend(served_name_args(launch, "--served-model-name"));
        // Its health check generates a token, which takes a second: ask seldom.
        let ready = Probe::http("/health", 2_000, LONG_START_MS, &FATAL);
        let server = Process::server(launch, "python3", args, ready, StopRule::terminate(20_000))?;
        let facts = size_facts(
            settings,
            &[
                ("tensor-parallel", "tp-size"),
                ("pipeline-parallel", "pp-size"),
                ("data-parallel", "dp-size"),
                ("expert-parallel", "ep-size"),
            ],
        );
        Ok(Plan::single(server, facts))
    }

    fn server(settings: &Settings) -> Result<Server, Error> {
        let metrics = MetricsEndpoint::prometheus(
            "/metrics",
            &[
                (Meaning::RequestsRunning, "sglang:num_running_reqs"),
                (Meaning::RequestsWaiting, "sglang:num_queue_reqs"),
                (Meaning::KvCacheUsed, "sglang:token_usage"),
                (Meaning::PromptTokensCached, "sglang:cached_tokens_total"),
                (Meaning::PromptTokens, "sglang:prompt_tokens_total"),
                (Meaning::GeneratedTokens, "sglang:generation_tokens_total"),
            ],
        );
        let version = HttpVersion { path: "/get_server_info".to_owned(), pointer: "/version".to_owned() };
        Ok(Server {
            // Not the health check: it is an inference request.
            ready: "/v1/models".to_owned(),
            models: Some(Self::DIALECT.models(settings, Some("/max_model_len"))),
            version: VersionProbe::Http(version),
            // It offers them only where it was told to; a server that is attached to is believed.
            metrics: if settings.flag("enable-metrics") { vec![metrics] } else { Vec::new() },
        })
    }
}

/// Devices that one replica takes: data parallel attention shares them, data parallel copies don't.
fn devices(settings: &Settings) -> u64 {
    let copies = if settings.flag("enable-dp-attention") { 1 } else { product(settings, &["dp-size"]) };
    product(settings, &["tp-size", "pp-size"]) * copies
}

bench_sdk::export_engine!(Sglang);
