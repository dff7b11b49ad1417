//! Dataset adapter: your own prompts, one JSON object a line.
//!
//! A line has `prompt` (a text) or `messages` (a chat in OpenAI's form), and may have `output_tokens`, `session`,
//! `timestamp` (seconds) and `labels`. Samples come in the order of the file. A line that can't be used is skipped and
//! noted.

mod line;
mod reader;

use bench_sdk::dataset::{Batch, Dataset, Inputs, Manifest, Note, Reader, RecordFormat, Records, Sample, SourceNeed};
use bench_sdk::{Error, Setting};
use reader::{LineReader, Lines};

/// The adapter.
pub struct Jsonl;

impl Dataset for Jsonl {
    type Reader = Opened;

    fn describe() -> Manifest {
        let settings = vec![
            Setting::source("path").required().doc(
                "The file: a JSON object a line, with `prompt` (a text) or `messages` (OpenAI's form), and, where \
                 wanted, `output_tokens`, `session`, `timestamp` (seconds from the start) and `labels` (texts by name).",
            ),
            Setting::integer("output-len")
                .min(1)
                .max(u32::MAX.into())
                .doc("Tokens to ask for in every answer, in place of the line's `output_tokens`."),
        ];
        let source = SourceNeed {
            id: "path".to_owned(),
            doc: "Your own prompts.".to_owned(),
            origin: None,
            license: None,
            digest: None,
        };
        Manifest { info: bench_sdk::info!("jsonl", "JSON lines"), settings, sources: vec![source] }
    }

    fn open(mut inputs: Inputs) -> Result<Opened, Error> {
        let missing = || Error::Internal("the host handed over no source `path`".to_owned());
        let source = inputs.take_source("path").ok_or_else(missing)?;
        let output_len = inputs.settings.unsigned("output-len").and_then(|n| u32::try_from(n).ok());
        let records = source.records(RecordFormat::Lines).map_err(Error::Malformed)?;
        Ok(Opened(LineReader::new(Granted(records), output_len, inputs.wanted)))
    }
}

/// What the host granted.
struct Granted(Records);

impl Lines for Granted {
    fn next(&mut self, max: u32, max_bytes: u32) -> Result<Batch, Error> {
        self.0.next(max, max_bytes).map_err(Error::Malformed)
    }
}

/// An opened file.
pub struct Opened(LineReader<Granted>);

impl Reader for Opened {
    fn next(&mut self, max: u32) -> Result<Vec<Sample>, Error> {
        self.0.next(max)
    }

    fn notes(&self) -> Vec<Note> {
        self.0.notes()
    }
}

bench_sdk::export_dataset!(Jsonl);
