//! Totals of tokens.

use bench_core::record::{RequestRecord, TokenSource};
use std::collections::BTreeMap;

/// A total, and how many rows it is known of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Sum over the rows that have the number.
    pub total: u64,
    /// How many rows have it.
    pub rows: u64,
}

impl Known {
    fn add(&mut self, value: Option<u32>) {
        if let Some(v) = value {
            self.total += u64::from(v);
            self.rows += 1;
        }
    }

    /// The total, where every one of `rows` rows has the number.
    pub fn of_all(&self, rows: u64) -> Option<u64> {
        (self.rows == rows && rows > 0).then_some(self.total)
    }
}

/// Totals over complete rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenTotals {
    /// Prompt, as the dataset counted.
    pub prompt_asked: Known,
    /// Prompt, as the server counted.
    pub prompt_server: Known,
    /// Prompt: the server's number, else the dataset's.
    pub prompt: Known,
    /// Of the prompt, cached.
    pub cached: Known,
    /// Prompt tokens of the rows that say how much was cached.
    pub prompt_beside_cached: u64,
    /// Output length asked for.
    pub output_asked: Known,
    /// Output.
    pub output: Known,
    /// Of the rows with both: output, and output asked for.
    pub output_beside_asked: (u64, u64),
    /// Of the output, reasoning.
    pub reasoning: Known,
    /// Output by where its number comes from.
    pub output_by_source: BTreeMap<&'static str, Known>,
    /// Output of rows that are not complete; in no figure.
    pub output_of_failed: Known,
}

impl TokenTotals {
    /// Takes a complete row in.
    pub fn add_complete(&mut self, row: &RequestRecord) {
        self.prompt_asked.add(row.prompt_tokens_asked);
        self.prompt_server.add(row.prompt_tokens);
        let prompt = row.prompt_tokens.or(row.prompt_tokens_asked);
        self.prompt.add(prompt);
        self.cached.add(row.cached_tokens);
        if row.cached_tokens.is_some() {
            self.prompt_beside_cached += prompt.map_or(0, u64::from);
        }
        self.output_asked.add(row.output_tokens_asked);
        self.output.add(row.output_tokens);
        if let (Some(output), Some(asked)) = (row.output_tokens, row.output_tokens_asked) {
            self.output_beside_asked.0 += u64::from(output);
            self.output_beside_asked.1 += u64::from(asked);
        }
        self.reasoning.add(row.reasoning_tokens);
        if row.output_tokens.is_some() {
            let source = row.token_source.map_or("unknown", TokenSource::as_str);
            self.output_by_source.entry(source).or_default().add(row.output_tokens);
        }
    }

    /// Takes a row in that is not complete.
    pub fn add_failed(&mut self, row: &RequestRecord) {
        self.output_of_failed.add(row.output_tokens);
    }
}
