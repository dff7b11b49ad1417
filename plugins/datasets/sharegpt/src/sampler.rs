//! Chooses samples by the rules of a sampler.

use crate::index::{Index, Place};
use crate::notes::Notes;
use crate::record::{Flaw, Turn, turns};
use bench_sdk::Error;
use bench_sdk::dataset::{Note, Prompt, Sample};
use bench_sdk::types::MalformedInput;
use std::collections::VecDeque;

/// Bytes of records, and number of them, that are read before their texts are counted.
const BATCH_BYTES: u64 = 4 << 20;
const BATCH_RECORDS: u64 = 256;

/// What the sampler asks of the host.
pub(crate) trait Host {
    /// Name of the source, for messages.
    fn name(&self) -> String;
    /// Bytes of the source.
    fn read(&self, offset: u64, length: u32) -> Result<Vec<u8>, Error>;
    /// Tokens of each text, with the special tokens that the tokenizer adds by itself.
    fn count(&self, texts: &[String]) -> Vec<u32>;
    /// After `random.seed(seed)`: the order of `n` things after `shuffle`.
    fn shuffle(&self, n: u32) -> Vec<u32>;
    /// After `random.seed(seed)`: one call of `choices`.
    fn choices(&self, n: u32, count: u32) -> Vec<u32>;
    /// After `random.seed(seed)`: that many calls of `choice`.
    fn choice(&self, n: u32, count: u32) -> Vec<u32>;
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// The first two turns, whoever speaks; repeats by `choices`.
    Vllm011,
    /// The first two turns, whoever speaks; repeats by `choice`.
    Vllm033,
    /// The first turn of a person that the model answers, and that answer; repeats by `choice`.
    Dialogue,
}

/// What the workload asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) rules: Rules,
    /// Length of every answer, in place of the answer's in the data.
    pub(crate) output_len: Option<u32>,
    /// Repeat samples where the data has too few.
    pub(crate) oversample: bool,
    pub(crate) shuffle: bool,
    /// Number of samples.
    pub(crate) wanted: u64,
}

/// A prompt with the answer that the data has for it.
#[derive(Debug)]
struct Exchange {
    speaker: Option<String>,
    prompt: String,
    answer: String,
}

/// A chosen record.
#[derive(Clone, Copy, Debug)]
struct Kept {
    place: Place,
    prompt_tokens: u32,
    output_tokens: u32,
}

/// Walks the records in their shuffled order.
#[derive(Debug)]
pub(crate) struct Sampler<H> {
    host: H,
    options: Options,
    places: Vec<Place>,
    visited: usize,
    kept: Vec<Kept>,
    /// Which of the kept are repeated, once the walk is over.
    repeats: Option<VecDeque<u32>>,
    ready: VecDeque<Sample>,
    notes: Notes,
}

impl<H: Host> Sampler<H> {
    pub(crate) fn new(host: H, index: Index, options: Options) -> Sampler<H> {
        let Index { places, notes, .. } = index;
        let places = if options.shuffle {
            let order = host.shuffle(places.len() as u32);
            order.iter().filter_map(|&i| places.get(i as usize).copied()).collect()
        } else {
            places
        };
        Sampler { host, options, places, visited: 0, kept: Vec::new(), repeats: None, ready: VecDeque::new(), notes }
    }

    /// The next samples, at most `max` and at most a batch, so that an answer stays small; none at the end.
    pub(crate) fn next(&mut self, max: usize) -> Result<Vec<Sample>, Error> {
        while self.ready.is_empty() && self.more()? {}
        Ok(self.ready.drain(..max.min(self.ready.len())).collect())
    }

    pub(crate) fn notes(&self) -> Vec<Note> {
        self.notes.list()
    }

    /// Makes some more samples ready; `false` at the end.
    fn more(&mut self) -> Result<bool, Error> {
        let missing = self.options.wanted.saturating_sub(self.kept.len() as u64);
        if missing == 0 {
            return Ok(false);
        }
        if self.visited < self.places.len() {
            self.walk(missing)?;
            return Ok(true);
        }
        if !self.options.oversample {
            return Ok(false);
        }
        self.repeat(missing)
    }

    /// Visits a batch of records and keeps those that fit.
    fn walk(&mut self, missing: u64) -> Result<(), Error> {
        let places = self.batch(missing);
        self.visited += places.len();
        let mut exchanges = Vec::with_capacity(places.len());
        for place in &places {
            exchanges.push(self.exchange(*place)?);
        }
        let lengths = self.lengths(&exchanges);
        for ((place, exchange), lengths) in places.into_iter().zip(exchanges).zip(lengths) {
            let kept = exchange.and_then(|exchange| Ok((exchange, lengths.ok_or(Flaw::Length)?)));
            match kept {
                Ok((exchange, (prompt_tokens, output_tokens))) => {
                    let kept = Kept { place, prompt_tokens, output_tokens };
                    self.kept.push(kept);
                    self.ready_up(kept, exchange);
                }
                Err(flaw) => self.notes.add(flaw.code(), flaw.message(), place.offset),
            }
            // What was read ahead of need is as if it had not been.
            if self.kept.len() as u64 == self.options.wanted {
                break;
            }
        }
        Ok(())
    }

    /// The next places to visit: not many more than are needed, and not too many bytes.
    fn batch(&self, missing: u64) -> Vec<Place> {
        let mut bytes = 0;
        let most = missing.saturating_mul(2).clamp(16, BATCH_RECORDS) as usize;
        let rest = self.places.iter().skip(self.visited).take(most);
        rest.take_while(|place| {
            let first = bytes == 0;
            bytes += u64::from(place.length);
            first || bytes <= BATCH_BYTES
        })
        .copied()
        .collect()
    }

    fn exchange(&self, place: Place) -> Result<Result<Exchange, Flaw>, Error> {
        let record = self.host.read(place.offset, place.length)?;
        Ok(turns(&record).and_then(|turns| exchange(&turns, self.options.rules)))
    }

    /// Tokens of prompt and answer of each exchange that the length filter passes.
    fn lengths(&self, exchanges: &[Result<Exchange, Flaw>]) -> Vec<Option<(u32, u32)>> {
        let mut lengths = vec![None; exchanges.len()];
        let usable: Vec<(usize, &Exchange)> =
            exchanges.iter().enumerate().filter_map(|(i, e)| Some((i, e.as_ref().ok()?))).collect();
        let prompts = self.count(usable.iter().map(|(_, e)| &e.prompt));
        if let Some(output) = self.options.output_len {
            for ((i, _), prompt) in usable.iter().zip(prompts) {
                lengths[*i] = fits(prompt, output, false).then_some((prompt, output));
            }
            return lengths;
        }
        // An answer's length matters only where the prompt's passes.
        let usable: Vec<_> = usable.into_iter().zip(prompts).filter(|(_, n)| fits(*n, MIN_TOKENS, true)).collect();
        let answers = self.count(usable.iter().map(|((_, e), _)| &e.answer));
        for (((i, _), prompt), output) in usable.into_iter().zip(answers) {
            lengths[i] = fits(prompt, output, true).then_some((prompt, output));
        }
        lengths
    }

    fn count<'a>(&self, texts: impl Iterator<Item = &'a String>) -> Vec<u32> {
        let texts: Vec<String> = texts.cloned().collect();
        if texts.is_empty() { Vec::new() } else { self.host.count(&texts) }
    }

    /// Repeats a batch of the kept samples.
    fn repeat(&mut self, missing: u64) -> Result<bool, Error> {
        let kept = self.kept.len() as u32;
        if kept == 0 {
            let message = "no record of it gives a sample by the sampler's rules; the notes say why".to_owned();
            return Err(Error::Malformed(MalformedInput { what: self.host.name(), offset: None, message }));
        }
        let repeats = self.repeats.get_or_insert_with(|| {
            let count = u32::try_from(missing).unwrap_or(u32::MAX);
            match self.options.rules {
                Rules::Vllm011 => self.host.choices(kept, count),
                Rules::Vllm033 | Rules::Dialogue => self.host.choice(kept, count),
            }
            .into()
        });
        let batch: Vec<u32> = repeats.drain(..repeats.len().min(BATCH_RECORDS as usize)).collect();
        for pick in &batch {
            let Some(&kept) = self.kept.get(*pick as usize) else { continue };
            if let Ok(exchange) = self.exchange(kept.place)? {
                self.ready_up(kept, exchange);
                self.notes.add(
                    "oversampled",
                    "sample repeats another one, because too few records fit",
                    kept.place.offset,
                );
            }
        }
        Ok(!batch.is_empty())
    }

    fn ready_up(&mut self, kept: Kept, exchange: Exchange) {
        if exchange.speaker.as_deref().is_some_and(|word| is_one_of(word, &MODEL)) {
            self.notes.add("assistant-prompt", "prompt is text of an assistant, not of a person", kept.place.offset);
        }
        self.ready.push_back(Sample {
            prompt_tokens: Some(kept.prompt_tokens),
            output_tokens: Some(kept.output_tokens),
            labels: exchange.speaker.map(|word| ("speaker".to_owned(), word)).into_iter().collect(),
            ..Sample::new(kept.place.number.to_string(), Prompt::Text(exchange.prompt))
        });
    }
}

/// Role words of a person and of a model in ShareGPT's files.
const PERSON: [&str; 2] = ["human", "user"];
const MODEL: [&str; 6] = ["gpt", "assistant", "chatgpt", "bing", "bard", "model"];

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|w| w.eq_ignore_ascii_case(word))
}

/// Picks prompt and answer.
fn exchange(turns: &[Turn<'_>], rules: Rules) -> Result<Exchange, Flaw> {
    let says = |turn: &Turn<'_>, words: &[&str]| turn.speaker().is_some_and(|word| is_one_of(&word, words));
    let pair = match rules {
        Rules::Vllm011 | Rules::Vllm033 => turns.first_chunk().ok_or(Flaw::FewTurns)?,
        Rules::Dialogue => {
            let mut pairs = turns.windows(2).filter_map(|pair| pair.first_chunk());
            pairs.find(|[asks, answers]| says(asks, &PERSON) && says(answers, &MODEL)).ok_or(Flaw::NoPerson)?
        }
    };
    let [asks, answers] = pair;
    Ok(Exchange {
        speaker: asks.speaker().map(Into::into),
        prompt: asks.value()?.into_owned(),
        answer: answers.value()?.into_owned(),
    })
}

const MIN_TOKENS: u32 = 4;

/// The length filter of vLLM's conversation sets. An answer's least length holds only where the answer is the data's.
fn fits(prompt: u32, output: u32, output_from_data: bool) -> bool {
    (MIN_TOKENS..=1024).contains(&prompt)
        && (output >= MIN_TOKENS || !output_from_data)
        && u64::from(prompt) + u64::from(output) <= 2048
}

#[cfg(test)]
#[path = "sampler_tests.rs"]
mod tests;
