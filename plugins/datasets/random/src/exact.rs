//! Prompts of exactly the length asked for.
//!
//! Text is made of ids that are a word of their own (a blank and letters), because tokenizers that split at blanks give
//! such ids back one for one; where a vocabulary has too few of them, of all ordinary ids. Either way every text is
//! counted, and one that isn't right is mended or drawn again until it is.

use crate::host::{Host, Vocabulary};
use bench_sdk::Error;

/// Fewer words than this would make prompts too much alike.
const FEW_WORDS: usize = 256;
/// Ids whose texts are looked at in one call.
const CALL: usize = 1 << 13;
/// How often one draw is mended, and how often a prompt is drawn, before it is given up.
const MENDS: u32 = 16;
const DRAWS: u32 = 8;

/// Makes texts that all begin with the same prefix.
#[derive(Debug)]
pub(crate) struct Texts {
    pool: Vec<u32>,
    special: u32,
    prefix: Vec<u32>,
    prefix_text: String,
}

impl Texts {
    /// Draws the prefix. `prefix_len` tokens are what a prompt gets longer by it.
    pub(crate) fn new(host: &mut impl Host, vocabulary: &Vocabulary, prefix_len: u32) -> Result<Texts, Error> {
        let special = vocabulary.added_per_text;
        let mut texts = Texts { pool: pool(host, vocabulary), special, prefix: Vec::new(), prefix_text: String::new() };
        if prefix_len > 0 {
            let draw = host.pick(&texts.pool, prefix_len as usize);
            let text = host.decode_one(draw);
            texts.prefix_text = texts.settle(host, text, prefix_len + special)?;
            texts.prefix = host.encode_one(texts.prefix_text.clone());
        }
        Ok(texts)
    }

    /// A text for each of these lengths: its number of tokens, the prefix and the tokenizer's own special tokens
    /// counted.
    pub(crate) fn make(&self, host: &mut impl Host, lengths: &[u32]) -> Result<Vec<String>, Error> {
        let sequences: Vec<Vec<u32>> = lengths.iter().map(|length| self.draw(host, *length)).collect();
        let texts = host.decode(&sequences);
        let counts = host.count(&texts, true);
        let checked = texts.into_iter().zip(counts).zip(lengths);
        checked
            .map(
                |((text, count), &length)| {
                    if self.is_right(&text, count, length) { Ok(text) } else { self.settle(host, text, length) }
                },
            )
            .collect()
    }

    fn draw(&self, host: &mut impl Host, length: u32) -> Vec<u32> {
        let own = (length.saturating_sub(self.special) as usize).saturating_sub(self.prefix.len());
        let mut ids = self.prefix.clone();
        ids.extend(host.pick(&self.pool, own));
        ids
    }

    fn is_right(&self, text: &str, count: u32, length: u32) -> bool {
        count == length && text.starts_with(&self.prefix_text)
    }

    /// Mends `text` until it has `length` tokens.
    fn settle(&self, host: &mut impl Host, mut text: String, length: u32) -> Result<String, Error> {
        let target = length.saturating_sub(self.special) as usize;
        for _ in 0..DRAWS {
            for _ in 0..MENDS {
                let count = host.count(std::slice::from_ref(&text), true).first().copied().unwrap_or_default();
                if self.is_right(&text, count, length) {
                    return Ok(text);
                }
                let mut ids = host.encode_one(text);
                if ids.len() < target {
                    ids.extend(host.pick(&self.pool, target - ids.len()));
                }
                ids.truncate(target);
                text = host.decode_one(ids);
            }
            let draw = self.draw(host, length);
            text = host.decode_one(draw);
        }
        Err(Error::Unsupported(format!(
            "no text of exactly {length} tokens was found for this tokenizer; set `form = \"tokens\"`, or another length"
        )))
    }
}

/// The ids that texts are made of.
fn pool(host: &impl Host, vocabulary: &Vocabulary) -> Vec<u32> {
    let ordinary = vocabulary.ordinary();
    let mut words = Vec::new();
    for ids in ordinary.chunks(CALL) {
        let singles: Vec<Vec<u32>> = ids.iter().map(|id| vec![*id]).collect();
        let texts = host.decode(&singles);
        words.extend(ids.iter().zip(&texts).filter(|(_, text)| is_word(text)).map(|(id, _)| *id));
    }
    if words.len() < FEW_WORDS { ordinary } else { words }
}

fn is_word(text: &str) -> bool {
    text.strip_prefix(' ').is_some_and(|rest| !rest.is_empty() && rest.chars().all(char::is_alphabetic))
}
