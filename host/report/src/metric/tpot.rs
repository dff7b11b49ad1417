//! Time per output token.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;
use crate::stats::Sorted;

pub(super) const TPOT: FigureDef = FigureDef {
    id: "tpot",
    title: "Time per output token",
    unit: Unit::Milliseconds,
    better: Better::Lower,
    needs: "`sent_ns`, `first_token_ns`, `last_token_ns`, `output_tokens`, `event_tokens`, `event_kind`",
    doc: "(E2E - TTFT) / (output tokens - tokens of the first event). One value for each complete streamed answer; undefined \
     for one whose content came in a single event. Where events carry no count of their own (`event_tokens` null) the \
     first is taken for one token.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    Measured::of(columns, &Sorted::new(columns.tpot.clone()), 1e6)
}
