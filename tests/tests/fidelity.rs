//! The bundled datasets, run in the sandbox on real files: what they yield is what the tools that they follow send, bit
//! for bit. `tests/setup.sh` fetches the files.

#![allow(clippy::unwrap_used, reason = "what a test prepares must work")]

use bench_core::adapter::{SettingValue, Severity};
use bench_core::sample::{Prompt, Sample, SampleNote};
use bench_plugin::{AdapterKind, DatasetInputs, PluginConfig, PluginError, PluginHost, Tokenizer};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

static TOKENIZER: LazyLock<Arc<Tokenizer>> =
    LazyLock::new(|| Arc::new(Tokenizer::load(&cached("tokenizer-qwen3/tokenizer.json")).expect("the real tokenizer")));

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn cached(name: &str) -> PathBuf {
    let path = here().join(".cache").join(name);
    assert!(path.exists(), "`{}` is missing; run tests/setup.sh", path.display());
    path
}

fn prefix() -> PathBuf {
    cached("sharegpt/sharegpt_prefix17671.json")
}

/// The first records of the real file, as a file of their own.
fn first_records(count: usize, extra: &str) -> tempfile::NamedTempFile {
    let text = std::fs::read_to_string(prefix()).unwrap();
    let ends: Vec<usize> = text.match_indices("\n  },\n").map(|(at, _)| at).take(count).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{}\n  }}{extra}\n]\n", &text[..ends[count - 1]])).unwrap();
    file
}

fn golden(name: &str) -> String {
    std::fs::read_to_string(here().join("data/fidelity").join(name)).expect("a golden file")
}

#[derive(Debug, Default)]
struct Yielded {
    samples: Vec<Sample>,
    notes: Vec<SampleNote>,
}

impl Yielded {
    fn count(&self, code: &str) -> u64 {
        self.notes.iter().filter(|n| n.code == code).map(|n| n.count).sum()
    }

    fn tokens(&self) -> u64 {
        self.samples.iter().filter_map(|s| s.prompt_tokens).map(u64::from).sum()
    }

    fn lengths(&self) -> Vec<(u32, u32)> {
        self.samples.iter().map(|s| (s.prompt_tokens.unwrap(), s.output_tokens.unwrap())).collect()
    }

    /// A line a sample, in the form of the golden files.
    fn lines(&self) -> String {
        let mut lines = String::new();
        for (index, sample) in self.samples.iter().enumerate() {
            let digest = hex(sample.prompt.digest_text().as_bytes());
            let (prompt, output) = (sample.prompt_tokens.unwrap(), sample.output_tokens.unwrap());
            let _ = writeln!(
                lines,
                r#"{{"index": {index}, "sha256": "{digest}", "prompt_len": {prompt}, "output_len": {output}}}"#
            );
        }
        lines
    }
}

fn hex(bytes: &[u8]) -> String {
    bench_core::hex(bench_core::sha256(bytes))
}

/// Opens a bundled dataset with these options over its defaults, and takes all its samples.
fn run(adapter: &str, path: Option<&Path>, seed: u64, wanted: u64, options: Value) -> Result<Yielded, PluginError> {
    let host = PluginHost::new(PluginConfig { bundled: bench_host::bundled::BUNDLED, ..PluginConfig::default() })?;
    let dataset = host.dataset(host.find(AdapterKind::Dataset, adapter, Path::new("."))?)?;
    let defaults = dataset.manifest().settings.iter().filter_map(|s| Some((s.key.clone(), s.default.clone()?)));
    let given = options.as_object().unwrap().iter().map(|(key, value)| {
        assert!(dataset.manifest().settings.iter().any(|s| s.key == *key), "no option `{key}`");
        (key.clone(), serde_json::from_value::<SettingValue>(value.clone()).unwrap())
    });
    let settings = defaults.chain(given).collect();
    let wrong = dataset.check(&settings)?.into_iter().find(|d| d.severity == Severity::Error);
    assert!(wrong.is_none(), "{wrong:?}");
    let mut reader = dataset.open(DatasetInputs {
        settings,
        sources: path.map(|path| ("path".to_owned(), path.to_owned())).into_iter().collect(),
        tokenizer: Some(Arc::clone(&TOKENIZER)),
        seed,
        wanted,
    })?;
    let mut yielded = Yielded::default();
    loop {
        let samples = reader.next(100)?;
        if samples.is_empty() {
            yielded.notes = reader.notes()?;
            return Ok(yielded);
        }
        yielded.samples.extend(samples);
    }
}

fn random(seed: u64, wanted: u64, options: Value) -> Yielded {
    run("random", None, seed, wanted, options).unwrap()
}

fn sharegpt(path: &Path, seed: u64, wanted: u64, options: Value) -> Yielded {
    run("sharegpt", Some(path), seed, wanted, options).unwrap()
}

#[test]
fn random_prompts_are_those_of_vllm() {
    let short = random(42, 1000, json!({"sampler": "vllm-0.11", "input-len": 128, "output-len": 4}));
    assert_eq!(short.lines(), golden("random_128_4.jsonl"));
    assert_eq!((short.tokens(), short.count("prompt-length")), (127_698, 31));
    let first: Value = serde_json::from_str(&golden("random_128_4.first3.json")).unwrap();
    for (sample, expected) in short.samples.iter().zip(first.as_array().unwrap()) {
        assert_eq!(sample.prompt, Prompt::Text(expected["prompt"].as_str().unwrap().to_owned()));
    }
    let long = random(42, 500, json!({"sampler": "vllm-0.11", "input-len": 4000, "output-len": 200}));
    assert_eq!(long.lines(), golden("random_4000_200.jsonl"));
    assert_eq!(long.tokens(), 1_997_942);
    let newer = random(42, 1000, json!({"sampler": "vllm-0.33", "input-len": 128, "output-len": 4}));
    assert_eq!(newer.lines(), golden("v0.33.0_random_128_4.jsonl"));
    assert_eq!(newer.tokens(), 128_000);
}

#[test]
fn random_totals_are_the_published_ones() {
    let total = |input: u32, wanted| {
        random(42, wanted, json!({"sampler": "vllm-0.11", "input-len": input, "output-len": 100})).tokens()
    };
    assert_eq!(total(2000, 500), 998_175);
    assert_eq!(total(32_000, 100), 3_200_000);
}

#[test]
fn sharegpt_prompts_are_those_of_vllm() {
    for sampler in ["vllm-0.11", "vllm-0.33"] {
        let yielded = sharegpt(&prefix(), 0, 1000, json!({"sampler": sampler}));
        assert_eq!(yielded.lines(), golden("sharegpt_PREFIX17671_1000.jsonl"), "{sampler}");
        assert_eq!(yielded.tokens(), 232_570);
        assert_eq!(yielded.count("assistant-prompt"), 377);
        assert_eq!(yielded.count("few-turns"), 271);
        assert_eq!(yielded.count("skipped-record"), 0);
    }
    let people = sharegpt(&prefix(), 0, 1000, json!({"sampler": "dialogue"}));
    assert_eq!((people.samples.len(), people.count("assistant-prompt")), (1000, 0));
    let speaker = |s: &Sample| s.labels.iter().find(|(key, _)| key == "speaker").map(|(_, word)| word.clone());
    assert!(people.samples.iter().all(|s| matches!(speaker(s).as_deref(), Some("human" | "user"))));
}

#[test]
fn repeats_are_those_of_vllm() {
    let file = first_records(60, "");
    let golden: Value = serde_json::from_str(&golden("oversample_golden_v011.json")).unwrap();
    let cases = [
        ("n80", 0, 80, json!({})),
        ("n80_seed7", 7, 80, json!({})),
        ("n80_no_oversample", 0, 80, json!({"no-oversample": true})),
        ("n20_outlen64", 0, 20, json!({"output-len": 64})),
    ];
    for (name, seed, wanted, options) in cases {
        let yielded = sharegpt(file.path(), seed, wanted, options);
        let expected: Vec<(String, u32, u32)> = serde_json::from_value::<Vec<(u32, u32, u32)>>(golden[name].clone())
            .unwrap()
            .into_iter()
            .map(|(record, prompt, output)| (record.to_string(), prompt, output))
            .collect();
        let found: Vec<_> = yielded.samples.iter().map(|s| s.id.clone()).zip(yielded.lengths()).collect();
        let found: Vec<_> = found.into_iter().map(|(id, (prompt, output))| (id, prompt, output)).collect();
        assert_eq!(found, expected, "{name}");
        assert_eq!(yielded.count("oversampled"), if wanted == 80 && expected.len() == 80 { 32 } else { 0 });
    }
}

/// Other seeds and options: `more_golden.json` has digests of what the original code made of them.
#[test]
fn other_seeds_and_options_are_those_of_vllm() {
    let cases: Vec<Value> = serde_json::from_str(&golden("more_golden.json")).unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let (seed, wanted) = (case["seed"].as_u64().unwrap(), case["n"].as_u64().unwrap());
        let file = case["first_records"].as_u64().map(|count| first_records(count as usize, ""));
        let yielded = match case["adapter"].as_str().unwrap() {
            "random" => random(seed, wanted, case["options"].clone()),
            _ => sharegpt(
                &file.as_ref().map_or_else(prefix, |f| f.path().to_owned()),
                seed,
                wanted,
                case["options"].clone(),
            ),
        };
        let outputs: u64 = yielded.lengths().iter().map(|(_, output)| u64::from(*output)).sum();
        let totals = (yielded.samples.len() as u64, yielded.tokens(), outputs);
        let expected = |key: &str| case[key].as_u64().unwrap();
        assert_eq!(totals, (expected("samples"), expected("prompt_tokens"), expected("output_tokens")), "{case}");
        assert_eq!(hex(yielded.lines().as_bytes()), case["lines_sha256"].as_str().unwrap(), "{case}");
    }
}

#[test]
fn exact_prompts_have_exactly_the_length() {
    let options = json!({"input-len": 300, "output-len": 20, "range-ratio": 0.3, "prefix-len": 17});
    let yielded = random(7, 200, options.clone());
    let texts: Vec<&str> = yielded
        .samples
        .iter()
        .map(|s| if let Prompt::Text(text) = &s.prompt { text.as_str() } else { panic!("no text") })
        .collect();
    for (text, sample) in texts.iter().zip(&yielded.samples) {
        let ids = TOKENIZER.encode(text, false).unwrap();
        assert_eq!(Some(ids.len() as u32), sample.prompt_tokens);
        assert!((17 + 210..=17 + 390).contains(&ids.len()), "{}", ids.len());
        assert!((14..=26).contains(&sample.output_tokens.unwrap()));
    }
    assert!(
        texts.iter().all(
            |text| TOKENIZER.encode(text, false).unwrap()[..17] == TOKENIZER.encode(texts[0], false).unwrap()[..17]
        )
    );
    assert_eq!(yielded.notes, []);
    assert_eq!(random(7, 200, options.clone()).lines(), yielded.lines(), "equal inputs, equal samples");
    assert_ne!(random(8, 200, options).lines(), yielded.lines());

    let tokens = random(7, 50, json!({"input-len": 300, "form": "tokens"}));
    for sample in &tokens.samples {
        let Prompt::Tokens(ids) = &sample.prompt else { panic!("no ids") };
        assert_eq!((ids.len(), sample.prompt_tokens), (300, Some(300)));
        assert!(ids.iter().all(|id| *id < 151_643));
    }
}

#[test]
fn a_truncated_file_is_an_error_that_names_the_byte() {
    let path = cached("sharegpt/ShareGPT_V3_prefix_uncut.json");
    let error = run("sharegpt", Some(&path), 0, 10, json!({})).unwrap_err().to_string();
    assert!(error.contains("125509632"), "{error}");
}

#[test]
fn a_bad_record_is_survived_and_said() {
    let bad = r#",
  {"id": "lone", "conversations": [{"from": "human", "value": "one two three four \ud800"},
                                   {"from": "gpt", "value": "five six seven eight"}]},
  {"id": "none"},
  {"id": "broken", "conversations": [{"from": human}]},
  {"id": "good", "conversations": [{"from": "human", "value": "one two three four five"},
                                   {"from": "gpt", "value": "six seven eight nine ten"}]}"#;
    let file = first_records(60, bad);
    let text = std::fs::read(file.path()).unwrap();
    let yielded = sharegpt(file.path(), 0, 100, json!({"no-oversample": true}));
    assert_eq!(yielded.samples.len(), 48 + 1);
    assert!(yielded.samples.iter().any(|s| s.id == "63"));
    let found = |what: &str| {
        let note = yielded.notes.iter().find(|n| n.message.contains(what)).unwrap_or_else(|| panic!("{what}"));
        assert_eq!((note.code.as_str(), note.count), ("skipped-record", 1));
        String::from_utf8_lossy(&text[note.offset.unwrap() as usize..][..20]).into_owned()
    };
    assert!(found("surrogate").starts_with(r#"{"id": "lone""#));
    assert!(found("no `conversations`").starts_with(r#"{"id": "none""#));
    assert!(found("not valid JSON").starts_with(r#"{"id": "broken""#));
}

#[test]
fn own_prompts_come_in_the_order_of_the_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let lines = [
        r#"{"prompt": "first", "output_tokens": 5, "labels": {"kind": "short"}}"#,
        "",
        "no JSON",
        r#"{"messages": [{"role": "user", "content": "second"}], "session": "s", "timestamp": 0.25}"#,
        r#"{"prompt": "cut of"#,
    ];
    std::fs::write(file.path(), lines.join("\r\n")).unwrap();
    let yielded = run("jsonl", Some(file.path()), 0, 10, json!({})).unwrap();
    let [first, second] = &yielded.samples[..] else { panic!("{yielded:?}") };
    assert_eq!((&first.prompt, first.output_tokens), (&Prompt::Text("first".to_owned()), Some(5)));
    assert_eq!(first.labels, [("kind".to_owned(), "short".to_owned())]);
    assert_eq!((second.session.as_deref(), second.turn, second.timestamp), (Some("s"), Some(0), Some(0.25)));
    assert_eq!(second.prompt.digest_text(), "second");
    assert_eq!((yielded.count("skipped-line"), yielded.notes[0].offset), (2, Some(72)));
}
