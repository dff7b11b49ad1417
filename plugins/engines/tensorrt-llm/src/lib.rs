//! Engine adapter: TensorRT-LLM.

mod options;

use bench_sdk::engine::{
    Engine, HttpVersion, LaunchRequest, Manifest, Plan, Probe, Process, Program, Server, StopRule, VersionProbe,
};
use bench_sdk::launch::{LONG_START_MS, check_devices, product, served_name_args, size_facts};
use bench_sdk::openai::Dialect;
use bench_sdk::{Diagnostic, Error, Settings};

/// Sizes that multiply to the devices of a replica.
const SIZES: [&str; 3] = ["tp-size", "pp-size", "cp-size"];

/// After these the server never answers, though some of its processes may live on.
const FATAL: [&str; 5] = [
    "CUDA out of memory",
    "torch.OutOfMemoryError",
    "CUDA runtime error in cudaMalloc",
    "Executor worker initialization failed",
    "MPI_ABORT was invoked",
];

/// TensorRT-LLM.
#[derive(Debug)]
pub struct TensorRtLlm;

impl Engine for TensorRtLlm {
    const DIALECT: Dialect =
        Dialect { token_prompts: true, ignore_eos: true, min_tokens: true, top_k: true, ..Dialect::OPENAI };

    fn describe() -> Manifest {
        Manifest {
            info: bench_sdk::info!("tensorrt-llm", "TensorRT-LLM"),
            engine: "TensorRT-LLM".to_owned(),
            engine_versions: ">=1.0, <2.0".to_owned(),
            programs: vec![Program {
                name: "trtllm-serve".to_owned(),
                doc: "TensorRT-LLM's server, as `pip install tensorrt_llm` puts it.".to_owned(),
                // It has no option that prints it; the running server says it.
                version: VersionProbe::None,
            }],
            launchable: true,
            default_port: Some(8000),
            env: Vec::new(),
            secrets: Vec::new(),
            settings: [options::settings(), Self::DIALECT.settings()].concat(),
            features: Self::DIALECT.features(),
        }
    }

    fn check(launch: &LaunchRequest, settings: &Settings) -> Vec<Diagnostic> {
        let mut found = Vec::from_iter(check_devices(launch, product(settings, &SIZES), "tp-size"));
        if let Err(Error::InvalidSettings(diagnostics)) = options::build(settings) {
            found.extend(diagnostics);
        }
        let number = |key| settings.integer(key);
        if let (Some(tokens), Some(length)) = (number("max-num-tokens"), number("max-seq-len"))
            && !settings.flag("enable-chunked-prefill")
            && tokens < length
        {
            let message = format!("{tokens} tokens a step can't hold a prompt of {length} tokens that is not split");
            let help = "set `enable-chunked-prefill = true`, or raise it to `max-seq-len`";
            found.push(Diagnostic::warning(message).key("max-num-tokens").help(help));
        }
        found
    }

    fn launch(launch: &LaunchRequest, settings: &Settings) -> Result<Plan, Error> {
        let (more, file) = options::build(settings)?;
        let mut args = vec![launch.model.location.clone()];
        args.extend(more);
        if let Some(revision) = &launch.model.revision {
            args.push(format!("--revision={revision}"));
        }
        args.extend(served_name_args(launch, "--served_model_name"));
        let ready = Probe::http("/health", 1_000, LONG_START_MS, &FATAL);
        let mut server = Process::server(launch, "trtllm-serve", args, ready, StopRule::terminate(30_000))?;
        server.files.extend(file);
        let facts = size_facts(
            settings,
            &[("tensor-parallel", "tp-size"), ("pipeline-parallel", "pp-size"), ("expert-parallel", "ep-size")],
        );
        Ok(Plan::single(server, facts))
    }

    fn server(settings: &Settings) -> Result<Server, Error> {
        Ok(Server {
            ready: "/health".to_owned(),
            models: Some(Self::DIALECT.models(settings, None)),
            version: VersionProbe::Http(HttpVersion { path: "/version".to_owned(), pointer: "/version".to_owned() }),
            // Its counts come by an endpoint that forgets what it has told once; nothing to sample.
            metrics: Vec::new(),
        })
    }
}

bench_sdk::export_engine!(TensorRtLlm);
