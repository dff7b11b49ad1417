//! What the simulated model says: words decided by the seed and the request. One token is one word with the space
//! before it; the first has none.

use crate::random::mix;

/// 64 words: ASCII, accents, other scripts, an emoji of four bytes and text that looks like framing.
const WORDS: [&str; 64] = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "that",
    "for",
    "it",
    "as",
    "was",
    "with",
    "be",
    "by",
    "on",
    "not",
    "he",
    "this",
    "are",
    "or",
    "his",
    "from",
    "at",
    "which",
    "but",
    "have",
    "an",
    "had",
    "they",
    "you",
    "were",
    "their",
    "one",
    "all",
    "we",
    "can",
    "her",
    "has",
    "there",
    "been",
    "if",
    "more",
    "when",
    "will",
    "would",
    "who",
    "so",
    "no",
    "time",
    "model",
    "token",
    "engine",
    "stream",
    "Grüße",
    "naïve",
    "Привет",
    "世界",
    "東京",
    "🙂",
    "data:",
    "\"quoted\"",
    "back\\slash",
    "[DONE]",
    "end.",
];

/// The text of token `index` of the answer that `key` decides.
pub(crate) fn token(key: u64, index: u32) -> &'static str {
    // Keyed by both, so that a token can be had without those before it.
    WORDS[(mix(key ^ mix(u64::from(index))) % WORDS.len() as u64) as usize]
}

/// Appends tokens `from..to` of an answer to `out`.
pub(crate) fn append(key: u64, from: u32, to: u32, out: &mut String) {
    for index in from..to {
        if index > 0 {
            out.push(' ');
        }
        out.push_str(token(key, index));
    }
}

/// Tokens of a text prompt: a quarter of its UTF-8 bytes, rounded up.
pub(crate) fn count_prompt(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(4)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_whole_and_keys_differ() {
        let (mut whole, mut pieces, mut other) = (String::new(), String::new(), String::new());
        append(7, 0, 100, &mut whole);
        for i in (0..100).step_by(5) {
            append(7, i, i + 5, &mut pieces);
        }
        append(8, 0, 100, &mut other);
        assert_eq!(whole, pieces);
        assert_ne!(whole, other);
        assert_eq!(whole.split(' ').count(), 100);
    }

    #[test]
    fn prompt_tokens_round_up() {
        assert_eq!([0, 1, 4, 5].map(count_prompt), [0, 1, 1, 2]);
    }
}
