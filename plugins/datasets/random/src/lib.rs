//! Dataset adapter: random prompts of given lengths.
//!
//! `exact` makes prompts of exactly the length asked for. `vllm-0.11` and `vllm-0.33` make what
//! `vllm bench serve --dataset-name random` of those versions sends, to the byte: consecutive ids of the vocabulary as
//! text, whose number of tokens may be another than asked for.

mod exact;
mod host;
mod lengths;
mod sampler;
mod vllm;

use bench_sdk::dataset::{Dataset, Inputs, Manifest, Note, NumpyGenerator, Reader, Sample, Tokenizer, TokenizerNeed};
use bench_sdk::{Diagnostic, Error, Setting, Settings, Severity};
use host::{Host, Vocabulary};
use lengths::Lengths;
use sampler::{Rules, Sampler, check_lengths};

/// The longest prompt, prefix or answer that can be asked for.
const MAX_TOKENS: i64 = 10_000_000;

/// The adapter.
pub struct Random;

impl Dataset for Random {
    type Reader = Opened;

    fn describe() -> Manifest {
        Manifest { info: bench_sdk::info!("random", "Random"), settings: settings(), sources: Vec::new() }
    }

    fn check(settings: &Settings) -> Vec<Diagnostic> {
        check(settings)
    }

    fn needs_tokenizer(_: &Settings) -> TokenizerNeed {
        TokenizerNeed::Required
    }

    fn open(inputs: Inputs) -> Result<Opened, Error> {
        let missing = || Error::Internal("the host handed over no tokenizer".to_owned());
        let tokenizer = inputs.tokenizer.ok_or_else(missing)?;
        let vocabulary = Vocabulary {
            size: tokenizer.vocabulary_size(),
            special: tokenizer.special_ids(),
            added_per_text: tokenizer.added_per_text(),
        };
        let host = Granted { tokenizer, generator: NumpyGenerator::new(inputs.seed) };
        let (rules, lengths) = (rules(&inputs.settings), lengths(&inputs.settings));
        Ok(Opened(Sampler::new(host, &vocabulary, rules, &lengths, inputs.wanted)?))
    }
}

fn settings() -> Vec<Setting> {
    let tokens = |key, least| Setting::integer(key).min(least).max(MAX_TOKENS);
    vec![
        tokens("input-len", 0).default(1024).doc("Tokens of a prompt.").engine_option("--random-input-len"),
        tokens("output-len", 1).default(128).doc("Tokens of an answer.").engine_option("--random-output-len"),
        Setting::number("range-ratio")
            .between(0.0, 1.0)
            .default(0.0)
            .doc(
                "Spread of both lengths: each is drawn evenly between `(1 - ratio)` and `(1 + ratio)` times the one \
                  given. Below 1.",
            )
            .engine_option("--random-range-ratio"),
        Setting::number("output-range-ratio")
            .between(0.0, 1.0)
            .doc("Spread of the answers' lengths, where it is not `range-ratio`. Not with `vllm-0.11`."),
        tokens("prefix-len", 0)
            .default(0)
            .doc("Tokens that all prompts begin with, besides those of `input-len`.")
            .engine_option("--random-prefix-len"),
        Setting::choice(
            "sampler",
            &[
                (
                    "exact",
                    "Every prompt has exactly the length asked for, checked with the tokenizer. In a text the special \
                     tokens that the tokenizer adds by itself are counted.",
                ),
                ("vllm-0.11", "As vLLM 0.11: some prompts come out shorter than asked for."),
                ("vllm-0.33", "As vLLM 0.33: short prompts are topped up; almost all have the length asked for."),
            ],
        )
        .default("exact")
        .doc("Rules by which prompts are made."),
        Setting::choice(
            "form",
            &[("text", "Text."), ("tokens", "Token ids; the engine has to take them. Only with `exact`.")],
        )
        .default("text")
        .doc("What a prompt is sent as."),
    ]
}

fn rules(settings: &Settings) -> Rules {
    match (settings.text("sampler"), settings.text("form")) {
        (Some("vllm-0.11"), _) => Rules::Vllm011,
        (Some("vllm-0.33"), _) => Rules::Vllm033,
        (_, Some("tokens")) => Rules::ExactTokens,
        _ => Rules::ExactText,
    }
}

fn lengths(settings: &Settings) -> Lengths {
    let tokens = |key, default| settings.unsigned(key).and_then(|n| u32::try_from(n).ok()).unwrap_or(default);
    let input_ratio = settings.number("range-ratio").unwrap_or_default();
    Lengths {
        input: tokens("input-len", 1024),
        output: tokens("output-len", 128),
        prefix: tokens("prefix-len", 0),
        input_ratio,
        output_ratio: settings.number("output-range-ratio").unwrap_or(input_ratio),
    }
}

fn check(settings: &Settings) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut error = |key: &str, message: &str, help: &str| {
        found.push(Diagnostic {
            severity: Severity::Error,
            key: Some(key.to_owned()),
            message: message.to_owned(),
            help: Some(help.to_owned()),
        });
    };
    let rules = rules(settings);
    let vllm = matches!(rules, Rules::Vllm011 | Rules::Vllm033);
    if vllm && settings.text("form") == Some("tokens") {
        error("form", "vLLM's samplers make texts", "leave `form` out, or set `sampler = \"exact\"`");
    }
    if rules == Rules::Vllm011 && settings.get("output-range-ratio").is_some() {
        let help = "leave `output-range-ratio` out, or set `sampler = \"vllm-0.33\"`";
        error("output-range-ratio", "vLLM 0.11 has one ratio for both lengths", help);
    }
    for key in ["range-ratio", "output-range-ratio"] {
        if settings.number(key).is_some_and(|ratio| ratio >= 1.0) {
            error(key, "the ratio has to be below 1", "write a number from 0 up to 0.99");
        }
    }
    if let Err(Error::InvalidSettings(more)) = check_lengths(rules, &lengths(settings), 0) {
        found.extend(more);
    }
    found
}

/// What the host granted.
struct Granted {
    tokenizer: Tokenizer,
    generator: NumpyGenerator,
}

impl Host for Granted {
    fn integers(&mut self, low: i64, high: i64, count: u32) -> Vec<i64> {
        self.generator.integers(low, high, count)
    }

    fn encode(&self, texts: &[String]) -> Vec<Vec<u32>> {
        self.tokenizer.encode(texts, false)
    }

    fn count(&self, texts: &[String], with_special: bool) -> Vec<u32> {
        self.tokenizer.count(texts, with_special)
    }

    fn decode(&self, sequences: &[Vec<u32>]) -> Vec<String> {
        self.tokenizer.decode(sequences)
    }
}

/// An opened stream of prompts.
pub struct Opened(Sampler<Granted>);

impl Reader for Opened {
    fn count(&self) -> Option<u64> {
        Some(self.0.count())
    }

    fn next(&mut self, max: u32) -> Result<Vec<Sample>, Error> {
        self.0.next(max as usize)
    }

    fn notes(&self) -> Vec<Note> {
        self.0.notes()
    }
}

bench_sdk::export_dataset!(Random);
