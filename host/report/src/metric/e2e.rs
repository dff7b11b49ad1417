//! End-to-end latency.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const E2E: FigureDef = FigureDef {
    id: "e2e",
    title: "End-to-end latency",
    unit: Unit::Milliseconds,
    better: Better::Lower,
    needs: "`sent_ns`, `last_token_ns`, `end_ns`, `streamed`",
    doc: "Last token - sent; end - sent where the answer was not streamed. Time before the request was sent is not in it: see \
     response time.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    Measured::of_nanos(columns, &columns.e2e)
}
