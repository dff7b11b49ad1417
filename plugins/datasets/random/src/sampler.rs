//! Yields the samples of one of the samplers.

use crate::exact::Texts;
use crate::host::{Host, Vocabulary};
use crate::lengths::Lengths;
use crate::vllm::{self, Request};
use bench_sdk::dataset::{Note, Prompt, Sample};
use bench_sdk::{Diagnostic, Error, Severity};
use std::collections::VecDeque;

/// Tokens of prompts that are made in one go.
const BATCH_TOKENS: u64 = 1 << 17;

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// Texts of exactly the length asked for.
    ExactText,
    /// Token ids, exactly as many as asked for.
    ExactTokens,
    Vllm011,
    Vllm033,
}

/// What prompts are made of under the rules.
#[derive(Debug)]
enum Maker {
    Text(Texts),
    Tokens { pool: Vec<u32>, prefix: Vec<u32> },
    Vllm011 { offsets: Vec<u32>, prefix: Vec<u32>, allowed: Vec<u32> },
    Vllm033 { offsets: Vec<u32>, prefix: Vec<u32>, allowed: Vec<u32> },
}

/// Makes prompts one after another.
#[derive(Debug)]
pub(crate) struct Sampler<H> {
    host: H,
    vocabulary: u32,
    prefix_len: u32,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    maker: Maker,
    made: usize,
    /// Samples that are made, each with whether its length is the one drawn.
    ready: VecDeque<(Sample, bool)>,
    off_length: u64,
}

impl<H: Host> Sampler<H> {
    /// Draws what is drawn before the first prompt, in the order of vLLM: lengths of all prompts, of all answers,
    /// offsets, prefix.
    pub(crate) fn new(
        mut host: H,
        vocabulary: &Vocabulary,
        rules: Rules,
        lengths: &Lengths,
        wanted: u64,
    ) -> Result<Sampler<H>, Error> {
        let wanted = usize::try_from(wanted).ok().filter(|n| u32::try_from(*n).is_ok()).ok_or_else(|| {
            Error::Unsupported(format!("{wanted} samples are more than `random` draws; at most {} are", u32::MAX))
        })?;
        let special = if matches!(rules, Rules::Vllm011 | Rules::Vllm033) { vocabulary.added_per_text } else { 0 };
        check_lengths(rules, lengths, vocabulary.added_per_text)?;
        if vocabulary.ordinary().is_empty() {
            return Err(Error::Unsupported("the tokenizer has no tokens but special ones".to_owned()));
        }
        let (low, high) = lengths.inputs(special);
        let inputs = host.draw(low, high + 1, wanted);
        let (low, high) = lengths.outputs();
        let outputs = host.draw(low, high + 1, wanted);
        let size = vocabulary.size;
        let maker = match rules {
            Rules::ExactText => Maker::Text(Texts::new(&mut host, vocabulary, lengths.prefix)?),
            Rules::ExactTokens => {
                let pool = vocabulary.ordinary();
                Maker::Tokens { prefix: host.pick(&pool, lengths.prefix as usize), pool }
            }
            Rules::Vllm011 => {
                let offsets = host.draw(0, size.into(), wanted);
                let prefix = host.draw(0, size.into(), lengths.prefix as usize);
                Maker::Vllm011 { offsets, prefix, allowed: (0..size).collect() }
            }
            Rules::Vllm033 => {
                let offsets = host.draw(0, size.into(), wanted);
                let allowed = vocabulary.ordinary();
                let prefix = match lengths.prefix {
                    0 => Vec::new(),
                    length => vllm::v033_prefix(&mut host, length, &allowed, size),
                };
                Maker::Vllm033 { offsets, prefix, allowed }
            }
        };
        let prefix_len = lengths.prefix;
        Ok(Sampler {
            host,
            vocabulary: size,
            prefix_len,
            inputs,
            outputs,
            maker,
            made: 0,
            ready: VecDeque::new(),
            off_length: 0,
        })
    }

    /// Number of samples in all.
    pub(crate) fn count(&self) -> u64 {
        self.inputs.len() as u64
    }

    /// The next samples, at most `max` and at most a batch, so that an answer stays small; none at the end.
    pub(crate) fn next(&mut self, max: usize) -> Result<Vec<Sample>, Error> {
        if self.ready.is_empty() && self.made < self.inputs.len() {
            self.make()?;
        }
        let samples = self.ready.drain(..max.min(self.ready.len()));
        let off_length = &mut self.off_length;
        Ok(samples
            .map(|(sample, right)| {
                *off_length += u64::from(!right);
                sample
            })
            .collect())
    }

    /// Makes a batch of samples. What is in a batch does not depend on how many samples the host asks for at a time,
    /// because the draws of one batch come before those of the next.
    fn make(&mut self) -> Result<(), Error> {
        let mut tokens = 0;
        let rest = self.inputs.iter().skip(self.made);
        let lengths: Vec<u32> = rest
            .take_while(|length| {
                let first = tokens == 0;
                tokens += u64::from(self.prefix_len) + u64::from(**length).max(1);
                first || tokens <= BATCH_TOKENS
            })
            .copied()
            .collect();
        for ((prompt, tokens), length) in self.prompts(&lengths)?.into_iter().zip(lengths) {
            let sample = Sample {
                prompt_tokens: Some(tokens),
                output_tokens: self.outputs.get(self.made).copied(),
                ..Sample::new(self.made.to_string(), prompt)
            };
            self.ready.push_back((sample, tokens == self.prefix_len + length));
            self.made += 1;
        }
        Ok(())
    }

    /// What there is to say of the samples yielded so far.
    pub(crate) fn notes(&self) -> Vec<Note> {
        if self.off_length == 0 {
            return Vec::new();
        }
        vec![Note {
            code: "prompt-length".to_owned(),
            message: "prompt has another number of tokens than the sampler drew, which its rules allow".to_owned(),
            count: self.off_length,
            offset: None,
        }]
    }

    /// The next prompts with their numbers of tokens.
    fn prompts(&mut self, lengths: &[u32]) -> Result<Vec<(Prompt, u32)>, Error> {
        let prefix_len = self.prefix_len;
        let host = &mut self.host;
        let requests = |offsets: &[u32]| -> Vec<Request> {
            let numbers = self.made..self.made + lengths.len();
            numbers
                .zip(lengths)
                .filter_map(|(n, &length)| Some(Request { index: n as u64, offset: *offsets.get(n)?, length }))
                .collect()
        };
        let texts = match &self.maker {
            Maker::Text(texts) => {
                let totals: Vec<u32> = lengths.iter().map(|length| prefix_len + length).collect();
                texts.make(host, &totals)?.into_iter().zip(totals).collect()
            }
            Maker::Tokens { pool, prefix } => {
                let prompts = lengths.iter().map(|&length| {
                    let mut ids = prefix.clone();
                    ids.extend(host.pick(pool, length as usize));
                    (Prompt::Tokens(ids), prefix_len + length)
                });
                return Ok(prompts.collect());
            }
            Maker::Vllm011 { offsets, prefix, allowed } => vllm::v011(host, &requests(offsets), prefix, allowed),
            Maker::Vllm033 { offsets, prefix, allowed } => {
                vllm::v033(host, &requests(offsets), prefix, prefix_len, (allowed, self.vocabulary))
            }
        };
        Ok(texts.into_iter().map(|(text, tokens)| (Prompt::Text(text), tokens)).collect())
    }
}

/// Every prompt needs a token of its own; vLLM 0.11 alone takes none.
pub(crate) fn check_lengths(rules: Rules, lengths: &Lengths, special: u32) -> Result<(), Error> {
    let least = match rules {
        Rules::Vllm011 => return Ok(()),
        Rules::Vllm033 => lengths.inputs(special).0,
        Rules::ExactTokens => lengths.inputs(0).0,
        Rules::ExactText => lengths.inputs(0).0 - i64::from(special),
    };
    if least + i64::from(lengths.prefix) >= 1 {
        return Ok(());
    }
    Err(Error::InvalidSettings(vec![Diagnostic {
        severity: Severity::Error,
        key: Some("input-len".to_owned()),
        message: "the shortest prompt that may be drawn would have no token".to_owned(),
        help: Some("raise `input-len` or `prefix-len`, or lower `range-ratio`".to_owned()),
    }]))
}

#[cfg(test)]
#[path = "sampler_tests.rs"]
mod tests;
