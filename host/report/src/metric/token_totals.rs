//! Totals of tokens over complete requests.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Known;

/// A total; `n` says of how many requests the number is known.
fn total(known: Known) -> Measured {
    let value = (known.rows > 0).then_some(known.total as f64);
    Measured::Value { n: known.rows, value }
}

pub(super) const PROMPT_TOKENS_ASKED: FigureDef = FigureDef {
    id: "prompt_tokens_asked",
    title: "Prompt tokens, as the dataset counted",
    unit: Unit::Tokens,
    better: Better::Neither,
    needs: "`prompt_tokens_asked`",
    doc: "Prompt tokens of complete requests as the dataset counted or made them, without a chat template.",
    compute: |columns| total(columns.tokens.prompt_asked),
};

pub(super) const PROMPT_TOKENS_SERVER: FigureDef = FigureDef {
    id: "prompt_tokens_server",
    title: "Prompt tokens, as the server counted",
    unit: Unit::Tokens,
    better: Better::Neither,
    needs: "`prompt_tokens`",
    doc: "Prompt tokens of complete requests in the server's usage: the chat template is in it.",
    compute: |columns| total(columns.tokens.prompt_server),
};

pub(super) const PROMPT_TOKENS: FigureDef = FigureDef {
    id: "prompt_tokens",
    title: "Prompt tokens",
    unit: Unit::Tokens,
    better: Better::Neither,
    needs: "`prompt_tokens`, `prompt_tokens_asked`",
    doc: "Prompt tokens of complete requests: the server's number, else the dataset's. Total token throughput counts these.",
    compute: |columns| total(columns.tokens.prompt),
};

pub(super) const CACHED_TOKENS: FigureDef = FigureDef {
    id: "cached_tokens",
    title: "Cached prompt tokens",
    unit: Unit::Tokens,
    better: Better::Neither,
    needs: "`cached_tokens`",
    doc: "Prompt tokens of complete requests that the server says it had cached.",
    compute: |columns| total(columns.tokens.cached),
};

pub(super) const OUTPUT_TOKENS_ASKED: FigureDef = FigureDef {
    id: "output_tokens_asked",
    title: "Output tokens asked for",
    unit: Unit::Tokens,
    better: Better::Neither,
    needs: "`output_tokens_asked`",
    doc: "Output length asked for, of complete requests. In no other figure.",
    compute: |columns| total(columns.tokens.output_asked),
};

pub(super) const OUTPUT_TOKENS: FigureDef = FigureDef {
    id: "output_tokens",
    title: "Output tokens",
    unit: Unit::Tokens,
    better: Better::Neither,
    needs: "`output_tokens`",
    doc: "Output tokens of complete requests: the server's usage, else the tokenizer, else content events; `tokens.output_by_source` says which.",
    compute: |columns| total(columns.tokens.output),
};

pub(super) const REASONING_TOKENS: FigureDef = FigureDef {
    id: "reasoning_tokens",
    title: "Reasoning tokens",
    unit: Unit::Tokens,
    better: Better::Neither,
    needs: "`reasoning_tokens`",
    doc: "Of the output tokens, those that the server counts as reasoning.",
    compute: |columns| total(columns.tokens.reasoning),
};
