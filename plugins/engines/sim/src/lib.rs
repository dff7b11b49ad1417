//! Engine adapter: the simulated engine of bench-host.

use bench_sdk::command::{self, CommandOption as Opt};
use bench_sdk::engine::{
    Engine, HttpVersion, LaunchRequest, Manifest, Meaning, MetricsEndpoint, Plan, Probe, Process, Program, Server,
    Signal, StopRule, VersionProbe,
};
use bench_sdk::openai::Dialect;
use bench_sdk::{Diagnostic, Error, Settings};

/// The simulated engine.
#[derive(Debug)]
pub struct Sim;

impl Engine for Sim {
    const DIALECT: Dialect = Dialect {
        token_prompts: true,
        ignore_eos: true,
        min_tokens: true,
        continuous_usage: true,
        images: false,
        ..Dialect::OPENAI
    };

    fn describe() -> Manifest {
        Manifest {
            info: bench_sdk::info!("sim", "Simulated engine"),
            engine: "bench-sim".to_owned(),
            engine_versions: "*".to_owned(),
            programs: vec![Program {
                name: "bench-host".to_owned(),
                doc: "bench-host itself; its `sim` command is the engine.".to_owned(),
                version: VersionProbe::Command(vec!["--version".to_owned()]),
            }],
            launchable: true,
            default_port: None,
            env: Vec::new(),
            secrets: Vec::new(),
            settings: [command::settings(&options()), Self::DIALECT.settings()].concat(),
            features: Self::DIALECT.features(),
        }
    }

    fn check(_: &LaunchRequest, settings: &Settings) -> Vec<Diagnostic> {
        let too_wide = |jitter: &str, of: &str, default_ms: i64| {
            let (jitter_ms, of_ms) = (settings.integer(jitter)?, settings.integer(of).unwrap_or(default_ms));
            let message = format!("`{jitter}` {jitter_ms}ms is more than `{of}` {of_ms}ms: a time would be negative");
            (jitter_ms > of_ms).then(|| Diagnostic::error(message).key(jitter).help(format!("give at most `{of}`")))
        };
        [too_wide("ttft-jitter", "ttft", 50), too_wide("itl-jitter", "itl", 10)].into_iter().flatten().collect()
    }

    fn launch(launch: &LaunchRequest, settings: &Settings) -> Result<Plan, Error> {
        let mut args = ["sim", "--model", &launch.model.served_as].map(str::to_owned).to_vec();
        args.extend(command::args(&options(), settings));
        let ready = Probe::http("/health", 20, 10_000, &[]);
        let stop = StopRule { signal: Signal::Interrupt, grace_ms: 2_000 };
        Ok(Plan::single(Process::server(launch, "bench-host", args, ready, stop)?, Vec::new()))
    }

    fn server(settings: &Settings) -> Result<Server, Error> {
        let metrics = MetricsEndpoint::prometheus(
            "/metrics",
            &[
                (Meaning::RequestsRunning, "sim:num_requests_running"),
                (Meaning::RequestsWaiting, "sim:num_requests_waiting"),
                (Meaning::PromptTokens, "sim:prompt_tokens_total"),
                (Meaning::GeneratedTokens, "sim:generation_tokens_total"),
            ],
        );
        Ok(Server {
            ready: "/health".to_owned(),
            models: Some(Self::DIALECT.models(settings, Some("/max_model_len"))),
            version: VersionProbe::Http(HttpVersion { path: "/version".to_owned(), pointer: "/version".to_owned() }),
            metrics: vec![metrics],
        })
    }
}

/// The flags of `bench-host sim` but the model's name, address and port.
fn options() -> Vec<Opt> {
    [timings(), answers(), wire()].concat()
}

fn timings() -> Vec<Opt> {
    let steps = [
        ("paced", "Each stream on its own: TTFT and every gap are what is set."),
        ("sync", "All running streams get their token in one step, as under continuous batching."),
    ];
    vec![
        Opt::duration("--ttft", "From a request's arrival to its first token, when it need not wait."),
        Opt::duration("--ttft-jitter", "Greatest deviation from `ttft`, either way."),
        Opt::duration("--itl", "Between two events of a stream."),
        Opt::duration("--itl-jitter", "Greatest deviation from `itl`, either way."),
        Opt::choice("--step", &steps, "Who steps when."),
        Opt::integer("--max-num-seqs", "Requests that run at once; others wait their turn.").min(1),
        Opt::number("--prefill-rate", "Prompt tokens a second; without it prompts cost nothing.").between(0.001, 1e12),
        Opt::integer("--seed", "Decides texts and jitter.").min(0),
    ]
}

fn answers() -> Vec<Opt> {
    let fields = [("reasoning-content", "`reasoning_content`."), ("reasoning", "`reasoning`.")];
    let usage = [
        ("final", "An event of its own at the end, on every event too where the request asks for that."),
        ("continuous", "On every event."),
        ("with-finish", "In the event of the finish reason, asked for or not."),
        ("none", "Never."),
    ];
    let roles = [
        ("with-first", "As an event of its own with the first token."),
        ("early", "As soon as the request has come."),
        ("none", "Never."),
    ];
    vec![
        Opt::integer("--tokens-per-chunk", "Tokens that an event carries.").min(1),
        Opt::integer("--output-tokens", "Tokens generated for a request that sets no limit.").min(1),
        Opt::integer("--stop-eos", "The model ends by itself after this many tokens, unless a request ignores that.")
            .min(1),
        Opt::integer("--max-model-len", "Longest prompt and answer together, in tokens.").min(1),
        Opt::integer("--reasoning-tokens", "The first so many tokens of a chat answer are reasoning.").min(0),
        Opt::choice("--reasoning-field", &fields, "Field that carries reasoning."),
        Opt::choice("--usage", &usage, "How a stream says what it used."),
        Opt::choice("--role-chunk", &roles, "When a chat stream sends its role."),
        Opt::text("--finish-reason", "Finish reason of an answer; without it `length` at the limit, else `stop`."),
    ]
}

fn wire() -> Vec<Opt> {
    let keep_alive = [
        ("normal", "It stays open."),
        ("close-after-stream", "It is closed unannounced after a streamed answer, as llama.cpp does."),
    ];
    vec![
        Opt::choice("--keep-alive", &keep_alive, "What becomes of a connection after an answer."),
        Opt::switch("--gzip", "Compress streams for clients that accept it."),
        Opt::switch("--stamp", "Write the time of sending into each event's id."),
        Opt::list("--fault", "What goes wrong, and when: `KIND:every=N[,after=K][,code=C]`.").repeated(),
    ]
}

bench_sdk::export_engine!(Sim);
