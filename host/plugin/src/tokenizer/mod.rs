//! The model's tokenizer, run natively.

mod file;
mod load;

pub use load::{Tokenizer, TokenizerError};
