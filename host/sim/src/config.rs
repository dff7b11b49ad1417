//! What the simulated engine is told: timings, forms of its answers, faults.

use crate::fault::Fault;
use bench_core::clock::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Settings of a simulated engine. Each field is the flag of `bench-host sim` with the same name in kebab-case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct SimConfig {
    /// Name of the one model that it serves.
    pub model: String,
    /// Address to listen on.
    pub host: String,
    /// Port to listen on; 0 takes a free one.
    pub port: u16,
    /// From the arrival of a request to its first token, when it need not wait and the prompt costs nothing.
    pub ttft: Nanos,
    /// Greatest deviation from `ttft`, either way; drawn evenly for each request.
    pub ttft_jitter: Nanos,
    /// Between two events of a stream.
    pub itl: Nanos,
    /// Greatest deviation from `itl`, either way; drawn evenly for each event.
    pub itl_jitter: Nanos,
    /// Who steps when.
    pub step: StepMode,
    /// Tokens that an event carries.
    pub tokens_per_chunk: u32,
    /// Tokens generated for a request that sets no limit.
    pub output_tokens: u32,
    /// The model ends by itself after this many tokens, unless the request says `ignore_eos`. `None`: never.
    pub stop_eos: Option<u32>,
    /// Requests that run at once; others wait their turn.
    pub max_num_seqs: u32,
    /// Prompt tokens a second: the first token comes later by the prompt's share. `None`: prompts cost nothing.
    pub prefill_rate: Option<f64>,
    /// Longest prompt and answer together, in tokens.
    pub max_model_len: u32,
    /// The first so many tokens of a chat answer are reasoning.
    pub reasoning_tokens: u32,
    /// Field that carries reasoning.
    pub reasoning_field: ReasoningField,
    /// How a stream says what it used.
    pub usage: UsageMode,
    /// When a chat stream sends its role.
    pub role_chunk: RoleChunk,
    /// Finish reason of an answer. `None`: `length` at the request's limit, else `stop`.
    pub finish_reason: Option<String>,
    /// What becomes of a connection after an answer.
    pub keep_alive: KeepAlive,
    /// Compress streams for clients that accept gzip.
    pub gzip: bool,
    /// Key that requests under `/v1` must carry.
    pub api_key: Option<String>,
    /// Write the time of sending (CLOCK_REALTIME, ns, 19 digits) behind `chatcmpl-` or `cmpl-` into each chunk's id.
    pub stamp: bool,
    /// What goes wrong, and when.
    pub faults: Vec<Fault>,
    /// Decides texts and jitter.
    pub seed: u64,
}

impl Default for SimConfig {
    fn default() -> SimConfig {
        SimConfig {
            model: "sim".into(),
            host: "127.0.0.1".into(),
            port: 0,
            ttft: Nanos::from_millis(50),
            ttft_jitter: Nanos::ZERO,
            itl: Nanos::from_millis(10),
            itl_jitter: Nanos::ZERO,
            step: StepMode::Paced,
            tokens_per_chunk: 1,
            output_tokens: 128,
            stop_eos: None,
            max_num_seqs: 4096,
            prefill_rate: None,
            max_model_len: 131_072,
            reasoning_tokens: 0,
            reasoning_field: ReasoningField::ReasoningContent,
            usage: UsageMode::Final,
            role_chunk: RoleChunk::WithFirst,
            finish_reason: None,
            keep_alive: KeepAlive::Normal,
            gzip: false,
            api_key: None,
            stamp: false,
            faults: Vec::new(),
            seed: 0,
        }
    }
}

/// A setting that can't be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A number that must be at least 1.
    #[error("`{0}` is 0: give at least 1")]
    Zero(&'static str),
    /// Jitter that would make a time negative.
    #[error("`{jitter}` is longer than `{of}`: a time would be negative; give at most `{of}`")]
    Jitter {
        /// The jitter's setting.
        jitter: &'static str,
        /// The time that it varies.
        of: &'static str,
    },
    /// A prefill rate that is no rate.
    #[error("`prefill-rate` is {0}: give tokens a second, more than 0")]
    PrefillRate(String),
    /// A word that is none of the choices.
    #[error("`{value}` is no value of `{setting}`: give one of {choices}")]
    Choice {
        /// Which setting.
        setting: &'static str,
        /// What was given.
        value: String,
        /// What could be given.
        choices: &'static str,
    },
    /// A fault that can't be read.
    #[error("`{text}` is no fault: {reason}; write `KIND:every=N[,after=K][,code=C]`")]
    Fault {
        /// What was given.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl SimConfig {
    /// Says whether the settings can be met together.
    ///
    /// # Errors
    /// The first setting that can't.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let counts = [
            ("tokens-per-chunk", self.tokens_per_chunk),
            ("output-tokens", self.output_tokens),
            ("max-num-seqs", self.max_num_seqs),
            ("max-model-len", self.max_model_len),
            ("stop-eos", self.stop_eos.unwrap_or(1)),
        ];
        if let Some((name, _)) = counts.iter().find(|(_, n)| *n == 0) {
            return Err(ConfigError::Zero(name));
        }
        if self.step == StepMode::Sync && self.itl == Nanos::ZERO {
            return Err(ConfigError::Zero("itl"));
        }
        if self.ttft_jitter > self.ttft {
            return Err(ConfigError::Jitter { jitter: "ttft-jitter", of: "ttft" });
        }
        if self.itl_jitter > self.itl {
            return Err(ConfigError::Jitter { jitter: "itl-jitter", of: "itl" });
        }
        match self.prefill_rate {
            Some(rate) if !(rate.is_finite() && rate > 0.0) => Err(ConfigError::PrefillRate(rate.to_string())),
            _ => Ok(()),
        }
    }
}

/// Declares an enum of plain choices with its words, once.
macro_rules! choices {
    ($(#[$doc:meta])* $name:ident, $setting:literal, $list:literal, { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl FromStr for $name {
            type Err = ConfigError;
            fn from_str(text: &str) -> Result<$name, ConfigError> {
                match text {
                    $($word => Ok($name::$variant),)*
                    _ => Err(ConfigError::Choice { setting: $setting, value: text.into(), choices: $list }),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($name::$variant => $word,)* })
            }
        }
    };
}

choices! {
    /// Who steps when.
    StepMode, "step", "`paced`, `sync`", {
        /// Each stream on its own: TTFT and every gap are what is set.
        Paced = "paced",
        /// All running streams get their token in one step, as under continuous batching: a new stream joins at the
        /// first step after its prefill, so its TTFT is rounded up to that step.
        Sync = "sync",
    }
}

choices! {
    /// How a stream says what it used.
    UsageMode, "usage", "`final`, `continuous`, `with-finish`, `none`", {
        /// An event of its own at the end, where the request has `stream_options.include_usage`; on every event
        /// too where it has `continuous_usage_stats`.
        Final = "final",
        /// On every event and in one of its own at the end, where the request has `include_usage`.
        Continuous = "continuous",
        /// In the event of the finish reason, asked for or not.
        WithFinish = "with-finish",
        /// Never, not even in an answer that is not streamed.
        None = "none",
    }
}

choices! {
    /// Field that carries reasoning.
    ReasoningField, "reasoning-field", "`reasoning-content`, `reasoning`", {
        /// `reasoning_content`.
        ReasoningContent = "reasoning-content",
        /// `reasoning`.
        Reasoning = "reasoning",
    }
}

choices! {
    /// When a chat stream sends its role.
    RoleChunk, "role-chunk", "`with-first`, `early`, `none`", {
        /// As an event of its own with the first token.
        WithFirst = "with-first",
        /// As soon as the request has come.
        Early = "early",
        /// Never.
        None = "none",
    }
}

choices! {
    /// What becomes of a connection after an answer.
    KeepAlive, "keep-alive", "`normal`, `close-after-stream`", {
        /// It stays open.
        Normal = "normal",
        /// It is closed unannounced after a streamed answer.
        CloseAfterStream = "close-after-stream",
    }
}
