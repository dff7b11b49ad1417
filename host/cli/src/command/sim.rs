//! `bench-host sim`: the simulated engine as a program of its own.

use crate::diagnostics::Failure;
use crate::exit::Exit;
use crate::signals::Interrupts;
use crate::terminal::Terminal;
use bench_core::clock::Nanos;
use bench_sim::{Fault, KeepAlive, ReasoningField, RoleChunk, SimConfig, SimServer, StepMode, UsageMode};
use clap::Args;
use std::sync::Arc;
use tokio::sync::Notify;

/// Settings of the simulated engine.
#[derive(Clone, Debug, Args)]
pub(crate) struct SimArgs {
    /// Name of the one model that it serves.
    #[arg(long, default_value = "sim", value_name = "NAME")]
    pub(crate) model: String,
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub(crate) host: String,
    /// Port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    pub(crate) port: u16,
    /// From a request's arrival to its first token, when it need not wait.
    #[arg(long, default_value = "50ms", value_parser = duration, value_name = "TIME")]
    pub(crate) ttft: Nanos,
    /// Greatest deviation from --ttft, either way.
    #[arg(long, default_value = "0ms", value_parser = duration, value_name = "TIME")]
    pub(crate) ttft_jitter: Nanos,
    /// Between two events of a stream.
    #[arg(long, default_value = "10ms", value_parser = duration, value_name = "TIME")]
    pub(crate) itl: Nanos,
    /// Greatest deviation from --itl, either way.
    #[arg(long, default_value = "0ms", value_parser = duration, value_name = "TIME")]
    pub(crate) itl_jitter: Nanos,
    /// Who steps when: paced (each stream on its own) or sync (all streams in one step, as under batching).
    #[arg(long, default_value = "paced", value_name = "MODE")]
    pub(crate) step: StepMode,
    /// Tokens that an event carries.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) tokens_per_chunk: u32,
    /// Tokens generated for a request that sets no limit.
    #[arg(long, default_value_t = 128, value_name = "N")]
    pub(crate) output_tokens: u32,
    /// The model ends by itself after this many tokens, unless the request ignores that.
    #[arg(long, value_name = "N")]
    pub(crate) stop_eos: Option<u32>,
    /// Requests that run at once; others wait their turn.
    #[arg(long, default_value_t = 4096, value_name = "N")]
    pub(crate) max_num_seqs: u32,
    /// Prompt tokens a second; without it prompts cost nothing.
    #[arg(long, value_name = "N")]
    pub(crate) prefill_rate: Option<f64>,
    /// Longest prompt and answer together, in tokens.
    #[arg(long, default_value_t = 131_072, value_name = "N")]
    pub(crate) max_model_len: u32,
    /// The first so many tokens of a chat answer are reasoning.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) reasoning_tokens: u32,
    /// Field that carries reasoning: reasoning-content or reasoning.
    #[arg(long, default_value = "reasoning-content", value_name = "FIELD")]
    pub(crate) reasoning_field: ReasoningField,
    /// How a stream says what it used: final, continuous, with-finish or none.
    #[arg(long, default_value = "final", value_name = "MODE")]
    pub(crate) usage: UsageMode,
    /// When a chat stream sends its role: with-first, early or none.
    #[arg(long, default_value = "with-first", value_name = "WHEN")]
    pub(crate) role_chunk: RoleChunk,
    /// Finish reason of an answer [default: length at the request's limit, else stop].
    #[arg(long, value_name = "WORD")]
    pub(crate) finish_reason: Option<String>,
    /// What becomes of a connection after an answer: normal or close-after-stream.
    #[arg(long, default_value = "normal", value_name = "MODE")]
    pub(crate) keep_alive: KeepAlive,
    /// Compress streams for clients that accept gzip.
    #[arg(long)]
    pub(crate) gzip: bool,
    /// Key that requests must carry.
    #[arg(long, value_name = "KEY")]
    pub(crate) api_key: Option<String>,
    /// Write the time of sending into each chunk's id.
    #[arg(long)]
    pub(crate) stamp: bool,
    /// What goes wrong, and when: KIND:every=N[,after=K][,code=C]. May be given several times.
    #[arg(long = "fault", value_name = "FAULT")]
    pub(crate) faults: Vec<Fault>,
    /// Decides texts and jitter.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
}

impl From<SimArgs> for SimConfig {
    fn from(a: SimArgs) -> SimConfig {
        SimConfig {
            model: a.model,
            host: a.host,
            port: a.port,
            ttft: a.ttft,
            ttft_jitter: a.ttft_jitter,
            itl: a.itl,
            itl_jitter: a.itl_jitter,
            step: a.step,
            tokens_per_chunk: a.tokens_per_chunk,
            output_tokens: a.output_tokens,
            stop_eos: a.stop_eos,
            max_num_seqs: a.max_num_seqs,
            prefill_rate: a.prefill_rate,
            max_model_len: a.max_model_len,
            reasoning_tokens: a.reasoning_tokens,
            reasoning_field: a.reasoning_field,
            usage: a.usage,
            role_chunk: a.role_chunk,
            finish_reason: a.finish_reason,
            keep_alive: a.keep_alive,
            gzip: a.gzip,
            api_key: a.api_key,
            stamp: a.stamp,
            faults: a.faults,
            seed: a.seed,
        }
    }
}

/// `50ms`, `1.5s`, `200us`; a bare number is refused, since nobody knows its unit.
fn duration(text: &str) -> Result<Nanos, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic() || c == 'µ').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        _ => return Err("write a number and one of ns, us, ms, s, m: `50ms`".into()),
    };
    let number: f64 = number.parse().map_err(|_| format!("`{number}` is no number; write `50ms`"))?;
    let ns = number * scale;
    if !(0.0..=86_400e9).contains(&ns) {
        return Err("give a time from 0 to 24 hours".into());
    }
    Ok(Nanos(ns.round() as u64))
}

pub(super) fn run(args: SimArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let config = SimConfig::from(args);
    config.validate().map_err(|e| Failure::input("the simulated engine can't work so").because(&e))?;
    let interrupts = Interrupts::listen().map_err(|e| Failure::internal("failed to listen for signals").because(&e))?;
    let address = format!("{}:{}", config.host, config.port);
    let server = SimServer::bind(config).map_err(|e| {
        Failure::new(Exit::Launch, format!("failed to listen on `{address}`"))
            .because(&e)
            .help("give another `--port`, or 0 for a free one")
    })?;
    terminal.say(&format!("listening on http://{}", server.addr()));
    let interrupted = Arc::new(Notify::new());
    let tell = Arc::clone(&interrupted);
    let _stopping = interrupts.during(move |_| tell.notify_one());
    server
        .run_until(async move { interrupted.notified().await })
        .map_err(|e| Failure::internal("the simulated engine failed").because(&e))?;
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(duration("50ms"), Ok(Nanos(50_000_000)));
        assert_eq!(duration("1.5s"), Ok(Nanos(1_500_000_000)));
        assert_eq!(duration("200µs"), Ok(Nanos(200_000)));
        assert!(duration("50").is_err());
        assert!(duration("-1s").is_err());
        assert!(duration("NaNs").is_err());
    }

    #[test]
    fn flags_without_values_are_the_defaults() {
        use clap::Parser;
        #[derive(clap::Parser)]
        struct Only {
            #[command(flatten)]
            sim: SimArgs,
        }
        let parsed = Only::parse_from(["sim"]).sim;
        assert_eq!(SimConfig::from(parsed), SimConfig::default());
    }
}
