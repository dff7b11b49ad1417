//! Time to first token.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const TTFT: FigureDef = FigureDef {
    id: "ttft",
    title: "Time to first token",
    unit: Unit::Milliseconds,
    better: Better::Lower,
    needs: "`sent_ns`, `first_token_ns`",
    doc: "First token - sent. The first token is the first generated content on any channel (text, reasoning, tool call), never \
     a role chunk. Of complete answers that were streamed.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    Measured::of_nanos(columns, &columns.ttft)
}
