//! What the samplers ask of the host.

/// The tokenizer and one seeded generator.
pub(crate) trait Host {
    /// Draws of `default_rng(seed).integers(low, high)`; successive calls go on with the same stream.
    fn integers(&mut self, low: i64, high: i64, count: u32) -> Vec<i64>;
    /// Token ids of each text, without the special tokens that the tokenizer adds by itself.
    fn encode(&self, texts: &[String]) -> Vec<Vec<u32>>;
    /// Number of tokens of each text, with or without those special tokens.
    fn count(&self, texts: &[String], with_special: bool) -> Vec<u32>;
    /// Texts of token ids, special tokens kept.
    fn decode(&self, sequences: &[Vec<u32>]) -> Vec<String>;

    /// Draws in `low..high`, `high` not included.
    fn draw(&mut self, low: i64, high: i64, count: usize) -> Vec<u32> {
        const CALL: usize = 1 << 16;
        let mut draws = Vec::with_capacity(count);
        while draws.len() < count {
            let call = CALL.min(count - draws.len());
            draws.extend(self.integers(low, high, call as u32).into_iter().map(|draw| draw as u32));
        }
        draws
    }

    /// Draws elements of `pool`.
    fn pick(&mut self, pool: &[u32], count: usize) -> Vec<u32> {
        let picks = self.draw(0, pool.len() as i64, count);
        picks.into_iter().filter_map(|at| pool.get(at as usize).copied()).collect()
    }

    /// Text of one sequence.
    fn decode_one(&self, ids: Vec<u32>) -> String {
        self.decode(&[ids]).pop().unwrap_or_default()
    }

    /// Token ids of one text.
    fn encode_one(&self, text: String) -> Vec<u32> {
        self.encode(&[text]).pop().unwrap_or_default()
    }
}

/// What the tokenizer knows.
#[derive(Clone, Debug)]
pub(crate) struct Vocabulary {
    /// Tokens, those added to the model not counted.
    pub(crate) size: u32,
    /// Special tokens, which no prompt may contain.
    pub(crate) special: Vec<u32>,
    /// Special tokens that the tokenizer adds to a text by itself.
    pub(crate) added_per_text: u32,
}

impl Vocabulary {
    /// Ids below the size that are not special, in order.
    pub(crate) fn ordinary(&self) -> Vec<u32> {
        let mut special = self.special.clone();
        special.sort_unstable();
        (0..self.size).filter(|id| special.binary_search(id).is_err()).collect()
    }
}
