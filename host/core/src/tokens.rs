//! Counting tokens without knowing how.

/// Counts the tokens of text. The host's tokenizer is one.
pub trait TokenCounter: Send + Sync {
    /// Tokens of `text`, without special tokens that a template would add.
    fn count(&self, text: &str) -> u32;
}
