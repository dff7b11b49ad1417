//! A dataset adapter for tests of the sandbox: does what the setting `mode` names, right or wrong.

#![cfg_attr(not(target_family = "wasm"), allow(dead_code, reason = "only the sandbox calls it"))]

use bench_sdk::dataset::{
    Dataset, Inputs, Manifest, Note, NumpyGenerator, NumpyLegacy, Prompt, PythonRandom, Reader, RecordFormat, Sample,
    SourceNeed, TokenizerNeed,
};
use bench_sdk::{Error, Setting, Settings};

struct Misbehaving;

struct Open {
    mode: String,
    samples: Vec<Sample>,
    wanted: u64,
}

impl Dataset for Misbehaving {
    type Reader = Open;

    fn describe() -> Manifest {
        Manifest {
            info: bench_sdk::info!("misbehaving", "Misbehaving"),
            settings: vec![Setting::text("mode").doc("What to do."), Setting::source("path").doc("Data.")],
            sources: vec![SourceNeed {
                id: "path".into(),
                doc: "Data.".into(),
                origin: None,
                license: None,
                digest: None,
            }],
        }
    }

    fn needs_tokenizer(_settings: &Settings) -> TokenizerNeed {
        TokenizerNeed::IfPresent
    }

    fn open(mut inputs: Inputs) -> Result<Open, Error> {
        let mode = inputs.settings.text("mode").unwrap_or("").to_owned();
        let texts = match mode.as_str() {
            "generators" => generators(inputs.seed),
            "below-nothing" => vec![format!("{:?}", PythonRandom::new(0).below(0, 1))],
            "gamma-of-nothing" => vec![format!("{:?}", NumpyLegacy::new(0).gammas(f64::NAN, 1.0, 1))],
            "wide" => vec![format!("{:?}", NumpyGenerator::new(0).integers(i64::MIN, i64::MAX, 1))],
            "shuffle" => vec![PythonRandom::new(0).shuffle(u32::MAX).len().to_string()],
            "handles" => {
                let kept: Vec<_> = (0..100_000).map(PythonRandom::new).collect();
                vec![kept.len().to_string()]
            }
            "lines" => records(&mut inputs, RecordFormat::Lines)?,
            "json" => records(&mut inputs, RecordFormat::JsonArray)?,
            "read" => {
                let source = inputs.take_source("path").ok_or_else(no_source)?;
                let part = source.read(3, 5).map_err(Error::Malformed)?;
                let end = source.read(source.size() - 2, 100).map_err(Error::Malformed)?;
                let behind = source.read(u64::MAX, 100).map_err(Error::Malformed)?;
                vec![source.id(), source.name(), source.size().to_string(), format!("{part:?} {end:?} {behind:?}")]
            }
            "read-huge" => {
                let source = inputs.take_source("path").ok_or_else(no_source)?;
                vec![source.read(0, u32::MAX).map_err(Error::Malformed)?.len().to_string()]
            }
            "tokenizer" => tokenizer(&inputs),
            _ => (0..inputs.wanted).map(|i| i.to_string()).collect(),
        };
        let sample = |(i, text): (usize, String)| Sample::new(i.to_string(), Prompt::Text(text));
        Ok(Open { mode, samples: texts.into_iter().enumerate().map(sample).collect(), wanted: inputs.wanted })
    }
}

fn no_source() -> Error {
    Error::Internal("no source".into())
}

fn generators(seed: u64) -> Vec<String> {
    let p = PythonRandom::new(seed);
    let l = NumpyLegacy::new(seed as u32);
    let g = NumpyGenerator::new(seed);
    vec![
        format!("{:?} {:?} {:?} {:?}", p.floats(3), p.below(1000, 3), p.shuffle(9), p.choices(7, 5)),
        format!("{:?} {:?} {:?} {:?}", l.floats(3), l.below(1000, 3), l.permutation(9), l.gammas(0.5, 2.0, 3)),
        format!("{:?} {:?}", g.floats(3), g.integers(-5, 1000, 3)),
    ]
}

/// Every record as `offset:text`, three at a time.
fn records(inputs: &mut Inputs, format: RecordFormat) -> Result<Vec<String>, Error> {
    let source = inputs.take_source("path").ok_or_else(no_source)?;
    let records = source.records(format).map_err(Error::Malformed)?;
    let mut texts = Vec::new();
    loop {
        let batch = records.next(3, 1 << 20).map_err(Error::Malformed)?;
        if batch.ends.is_empty() {
            return Ok(texts);
        }
        texts.extend(batch.iter().map(|(offset, bytes)| format!("{offset}:{}", String::from_utf8_lossy(bytes))));
    }
}

fn tokenizer(inputs: &Inputs) -> Vec<String> {
    let Some(t) = &inputs.tokenizer else { return vec!["none".into()] };
    let texts = ["Hello, world!".to_owned(), "<|im_start|>ä\u{1f680}".to_owned()];
    let ids = t.encode(&texts, false);
    vec![
        format!("{} {} {}", t.vocabulary_size(), t.added_per_text(), t.special_ids().len()),
        format!("{ids:?} {:?}", t.count(&texts, true)),
        format!("{:?}", t.decode(&ids)),
    ]
}

impl Reader for Open {
    fn count(&self) -> Option<u64> {
        Some(self.wanted)
    }

    fn next(&mut self, max: u32) -> Result<Vec<Sample>, Error> {
        let mut n = self.samples.len().min(max as usize);
        match self.mode.as_str() {
            "trap" => panic!("the reader is broken"),
            "more" => n = self.samples.len(),
            "unknown-token" => self.samples[0].prompt = Prompt::Tokens(vec![1, 4_000_000_000]),
            _ => {}
        }
        Ok(self.samples.drain(..n).collect())
    }

    fn notes(&self) -> Vec<Note> {
        let code = if self.mode == "bad-note" { "Bad Note" } else { "fine" };
        vec![Note { code: code.into(), message: "said\u{1b}".into(), count: 3, offset: Some(5) }]
    }
}

bench_sdk::export_dataset!(Misbehaving);
