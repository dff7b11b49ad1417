//! Response time.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const RESPONSE_TIME: FigureDef = FigureDef {
    id: "response_time",
    title: "Response time",
    unit: Unit::Milliseconds,
    better: Better::Lower,
    needs: "`scheduled_ns`, `last_token_ns`, `end_ns`, `streamed`",
    doc: "Last token - scheduled; end - scheduled where the answer was not streamed. Beside E2E it shows what waiting for a slot, \
     a late client and stale connections added (coordinated omission).",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    Measured::of_nanos(columns, &columns.response)
}
