//! Dataset adapter: conversations in ShareGPT's form.
//!
//! The file is one JSON array of records with `conversations`, a list of turns with `from` and `value`. It is read in
//! two passes: the first keeps nothing but the places of the records that take part, the second reads the chosen ones.
//! `vllm-0.11` and `vllm-0.33` yield what `vllm bench serve --dataset-name sharegpt` of those versions sends, to the
//! byte. A record that would have ended that tool is skipped and noted.

mod index;
mod json;
mod notes;
mod record;
mod sampler;

use bench_sdk::dataset::{
    Dataset, Inputs, Manifest, Note, PythonRandom, Reader, RecordFormat, Sample, Source, SourceNeed, Tokenizer,
    TokenizerNeed,
};
use bench_sdk::{Diagnostic, Error, Setting, Settings, Severity};
use index::Index;
use sampler::{Host, Options, Rules, Sampler};

/// Records, and bytes of them, that the first pass looks at in one go.
const PASS_RECORDS: u32 = 4096;
const PASS_BYTES: u32 = 1 << 20;

/// The adapter.
pub struct ShareGpt;

impl Dataset for ShareGpt {
    type Reader = Opened;

    fn describe() -> Manifest {
        Manifest { info: bench_sdk::info!("sharegpt", "ShareGPT"), settings: settings(), sources: vec![file()] }
    }

    fn check(settings: &Settings) -> Vec<Diagnostic> {
        if !settings.flag("disable-shuffle") || rules(settings) != Rules::Vllm011 {
            return Vec::new();
        }
        vec![Diagnostic {
            severity: Severity::Error,
            key: Some("disable-shuffle".to_owned()),
            message: "the sampler `vllm-0.11` always shuffles".to_owned(),
            help: Some("leave `disable-shuffle` out, or set `sampler = \"vllm-0.33\"`".to_owned()),
        }]
    }

    fn needs_tokenizer(_: &Settings) -> TokenizerNeed {
        TokenizerNeed::Required
    }

    fn open(mut inputs: Inputs) -> Result<Opened, Error> {
        let missing = |what: &str| Error::Internal(format!("the host handed over no {what}"));
        let source = inputs.take_source("path").ok_or_else(|| missing("source `path`"))?;
        let tokenizer = inputs.tokenizer.ok_or_else(|| missing("tokenizer"))?;
        let settings = &inputs.settings;
        let options = Options {
            rules: rules(settings),
            output_len: settings.unsigned("output-len").and_then(|n| u32::try_from(n).ok()),
            oversample: !settings.flag("no-oversample"),
            shuffle: !settings.flag("disable-shuffle"),
            wanted: inputs.wanted,
        };
        let index = first_pass(&source)?;
        let host = Granted { source, tokenizer, seed: inputs.seed };
        Ok(Opened(Sampler::new(host, index, options)))
    }
}

fn settings() -> Vec<Setting> {
    vec![
        Setting::source("path")
            .required()
            .doc("The file: a JSON array of records with `conversations`. It may be larger than memory."),
        Setting::choice(
            "sampler",
            &[
                ("vllm-0.11", "As vLLM 0.11: the first turn is the prompt, whoever speaks."),
                ("vllm-0.33", "As vLLM 0.33: repeats are drawn differently where the data has too few samples."),
                (
                    "dialogue",
                    "Only what a person said is a prompt: the first turn of `human` or `user` that a turn of the model \
                     (`gpt`, `assistant`, `chatgpt`, `bing`, `bard`, `model`) follows at once, with that turn as the \
                     answer. Order, length limits and repeats are as in `vllm-0.33`.",
                ),
            ],
        )
        .default("vllm-0.11")
        .doc(
            "Rules by which prompts are chosen. Prompts and answers have at least 4 tokens, prompts at most 1024, both \
              together at most 2048.",
        ),
        Setting::integer("output-len")
            .min(1)
            .max(u32::MAX.into())
            .doc("Tokens to ask for in every answer. Without it, as many as the answer in the data has.")
            .engine_option("--sharegpt-output-len"),
        Setting::boolean("no-oversample")
            .default(false)
            .doc("Yield fewer samples where the data has too few, rather than repeat some.")
            .engine_option("--no-oversample"),
        Setting::boolean("disable-shuffle")
            .default(false)
            .doc("Take the records in the order of the file. Not with `vllm-0.11`, which always shuffles.")
            .engine_option("--disable-shuffle"),
    ]
}

fn file() -> SourceNeed {
    SourceNeed {
        id: "path".to_owned(),
        doc: "ShareGPT_V3_unfiltered_cleaned_split.json, 672,837,942 bytes, or another file of this form.".to_owned(),
        origin: Some(
            "https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered/resolve/\
             192ab2185289094fc556ec8ce5ce1e8e587154ca/ShareGPT_V3_unfiltered_cleaned_split.json"
                .to_owned(),
        ),
        license: None,
        digest: Some("35f0e213ce091ed9b9af2a1f0755e9d39f9ccec34ab281cd4ca60d70f6479ba4".to_owned()),
    }
}

fn rules(settings: &Settings) -> Rules {
    match settings.text("sampler") {
        Some("vllm-0.33") => Rules::Vllm033,
        Some("dialogue") => Rules::Dialogue,
        _ => Rules::Vllm011,
    }
}

fn first_pass(source: &Source) -> Result<Index, Error> {
    let records = source.records(RecordFormat::JsonArray).map_err(Error::Malformed)?;
    let mut index = Index::default();
    loop {
        let batch = records.next(PASS_RECORDS, PASS_BYTES).map_err(Error::Malformed)?;
        if batch.ends.is_empty() {
            return Ok(index);
        }
        for (offset, record) in batch.iter() {
            index.add(offset, record);
        }
    }
}

/// What the host granted.
struct Granted {
    source: Source,
    tokenizer: Tokenizer,
    seed: u64,
}

impl Host for Granted {
    fn name(&self) -> String {
        self.source.name()
    }

    fn read(&self, offset: u64, length: u32) -> Result<Vec<u8>, Error> {
        self.source.read(offset, length).map_err(Error::Malformed)
    }

    fn count(&self, texts: &[String]) -> Vec<u32> {
        self.tokenizer.count(texts, true)
    }

    fn shuffle(&self, n: u32) -> Vec<u32> {
        PythonRandom::new(self.seed).shuffle(n)
    }

    fn choices(&self, n: u32, count: u32) -> Vec<u32> {
        PythonRandom::new(self.seed).choices(n, count)
    }

    fn choice(&self, n: u32, count: u32) -> Vec<u32> {
        PythonRandom::new(self.seed).below(n.into(), count).into_iter().map(|pick| pick as u32).collect()
    }
}

/// An opened file.
pub struct Opened(Sampler<Granted>);

impl Reader for Opened {
    fn next(&mut self, max: u32) -> Result<Vec<Sample>, Error> {
        self.0.next(max as usize)
    }

    fn notes(&self) -> Vec<Note> {
        self.0.notes()
    }
}

bench_sdk::export_dataset!(ShareGpt);
