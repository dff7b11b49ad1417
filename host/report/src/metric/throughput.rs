//! Throughput over the window.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const REQUEST_THROUGHPUT: FigureDef = FigureDef {
    id: "request_throughput",
    title: "Request throughput",
    unit: Unit::RequestsPerSecond,
    better: Better::Higher,
    needs: "`outcome` and the window",
    doc: "Complete requests over the window.",
    compute: |columns| {
        let n = columns.complete();
        Measured::rate(columns, n, Some(n as f64))
    },
};

pub(super) const OUTPUT_THROUGHPUT: FigureDef = FigureDef {
    id: "output_throughput",
    title: "Output token throughput",
    unit: Unit::TokensPerSecond,
    better: Better::Higher,
    needs: "`output_tokens` and the window",
    doc: "Output tokens of complete requests over the window; null where the number is not known of every one.",
    compute: |columns| {
        let n = columns.complete();
        Measured::rate(columns, n, columns.tokens.output.of_all(n).map(|t| t as f64))
    },
};

pub(super) const TOTAL_THROUGHPUT: FigureDef = FigureDef {
    id: "total_throughput",
    title: "Total token throughput",
    unit: Unit::TokensPerSecond,
    better: Better::Higher,
    needs: "`prompt_tokens`, `prompt_tokens_asked`, `output_tokens` and the window",
    doc: "Prompt and output tokens of complete requests over the window; null where a number is not known of every \
          one. Prompt tokens are the server's, else the dataset's.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    let n = columns.complete();
    let tokens = columns.tokens.prompt.of_all(n).zip(columns.tokens.output.of_all(n));
    Measured::rate(columns, n, tokens.map(|(prompt, output)| (prompt + output) as f64))
}
