//! Loading and running a tokenizer.

use bench_core::tokens::TokenCounter;
use std::path::{Path, PathBuf};
use tokenizers::pipeline::{EncodeOptions, Override, PipelineToken, PipelineTokenizer};

/// A tokenizer that was loaded from a `tokenizer.json`.
///
/// Encoding neither cuts nor pads, whatever the file says; text that spells a special token is that token.
/// Decoding keeps special tokens and cleans nothing up.
pub struct Tokenizer {
    pipeline: PipelineTokenizer,
    name: String,
    sha256: String,
    vocabulary_size: u32,
    special_ids: Vec<u32>,
    greatest_id: u32,
    added_per_text: u32,
}

/// Why a tokenizer could not be loaded or used.
#[derive(Debug, thiserror::Error)]
pub enum TokenizerError {
    /// The file could not be read.
    #[error("failed to read the tokenizer `{path}`: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no tokenizer file that can be run.
    #[error("`{path}` is no usable tokenizer: {what}; give the `tokenizer.json` of the model")]
    Load {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A text could not be encoded, or ids not decoded.
    #[error("tokenizer `{name}` failed to {action}: {what}")]
    Run {
        /// Name of the tokenizer.
        name: String,
        /// `encode` or `decode`.
        action: &'static str,
        /// What is wrong.
        what: String,
    },
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokenizer").field("name", &self.name).field("sha256", &self.sha256).finish_non_exhaustive()
    }
}

/// Characters that a vocabulary is least likely to hold: a private-use one, a rare script, a control
/// character, an emoji sequence. A tokenizer that takes these takes any text.
const PROBE: &str = "Az 0\u{e000}\u{10a60}\u{1}\t\n\u{1f469}\u{200d}\u{1f680}\u{fffd}";

impl Tokenizer {
    /// Loads a `tokenizer.json`, of the current format or of an older one.
    ///
    /// # Errors
    /// Where the file can't be read, is no tokenizer, or uses a part that can't be run.
    pub fn load(path: &Path) -> Result<Tokenizer, TokenizerError> {
        let bytes = std::fs::read(path).map_err(|source| TokenizerError::Read { path: path.to_owned(), source })?;
        let load_error = |what: String| TokenizerError::Load { path: path.to_owned(), what };
        let sha256 = bench_core::hex(bench_core::sha256(&bytes));
        let text = std::str::from_utf8(&bytes).map_err(|e| load_error(format!("it is no UTF-8: {e}")))?;
        let file = super::file::current(text).map_err(load_error)?;
        drop(bytes);
        let pipeline = tokenizers::from_json(&file.text).map_err(|e| load_error(e.to_string()))?;

        let added = pipeline.get_added_vocabulary().get_added_tokens_decoder();
        let mut special_ids: Vec<u32> = added.iter().filter(|(_, t)| t.special).map(|(id, _)| *id).collect();
        special_ids.sort_unstable();
        let greatest_id = added.keys().copied().max().unwrap_or(0).max(file.greatest_id);
        let added_per_text = pipeline.get_post_processor().single.n_special() as u32;
        let name = path.display().to_string();
        let vocabulary_size = file.vocabulary_size;
        let tokenizer = Tokenizer { pipeline, name, sha256, vocabulary_size, special_ids, greatest_id, added_per_text };
        tokenizer.encode(PROBE, true).map_err(|e| load_error(format!("it can't encode every text: {e}")))?;
        Ok(tokenizer)
    }

    /// The path that it was loaded from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 of its file, lower-case hex.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Number of tokens of the model's vocabulary, without added tokens: Python's `vocab_size`.
    pub fn vocabulary_size(&self) -> u32 {
        self.vocabulary_size
    }

    /// Ids of special tokens, ascending.
    pub fn special_ids(&self) -> &[u32] {
        &self.special_ids
    }

    /// The greatest id of any token, added ones included.
    pub fn greatest_id(&self) -> u32 {
        self.greatest_id
    }

    /// Number of special tokens that are put around one text by default.
    pub fn added_per_text(&self) -> u32 {
        self.added_per_text
    }

    /// The token ids of a text, with the special tokens that belong around it if `add_special`.
    ///
    /// # Errors
    /// Where the model has no token for some of the text and none for what it doesn't know.
    pub fn encode(&self, text: &str, add_special: bool) -> Result<Vec<u32>, TokenizerError> {
        let mut tokens = Vec::with_capacity(text.len() / 4 + 8);
        self.encode_into(text, add_special, &mut tokens)?;
        Ok(tokens.into_iter().map(PipelineToken::id).collect())
    }

    /// The number of tokens that [`Tokenizer::encode`] gives.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn count_tokens(&self, text: &str, add_special: bool) -> Result<u32, TokenizerError> {
        let mut tokens = Vec::with_capacity(text.len() / 4 + 8);
        self.encode_into(text, add_special, &mut tokens)?;
        Ok(tokens.len() as u32)
    }

    /// The text of token ids; bytes that are no UTF-8 become U+FFFD, ids that no token has are left out.
    ///
    /// # Errors
    /// Where the tokenizer's decoder can't invert the tokens.
    pub fn decode(&self, ids: &[u32]) -> Result<String, TokenizerError> {
        self.pipeline.decode(ids, false).map_err(|e| self.run_error("decode", &*e))
    }

    fn encode_into(&self, text: &str, add_special: bool, out: &mut Vec<PipelineToken>) -> Result<(), TokenizerError> {
        let options = EncodeOptions {
            add_special_tokens: add_special,
            encode_special_tokens: false,
            padding: Override::Off,
            truncation: Override::Off,
        };
        self.pipeline.encode_into(text, &options, out).map_err(|e| self.run_error("encode", &*e))
    }

    fn run_error(&self, action: &'static str, e: &(dyn std::error::Error + Send + Sync)) -> TokenizerError {
        TokenizerError::Run { name: self.name.clone(), action, what: e.to_string() }
    }
}

impl TokenCounter for Tokenizer {
    fn count(&self, text: &str) -> u32 {
        match self.count_tokens(text, false) {
            Ok(n) => n,
            Err(e) => {
                // A tokenizer that can't encode every text is refused when it is loaded.
                tracing::error!(error = %e, "a text could not be counted");
                0
            }
        }
    }
}
