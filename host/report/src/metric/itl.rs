//! Inter-token latency.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const ITL: FigureDef = FigureDef {
    id: "itl",
    title: "Inter-token latency",
    unit: Unit::Milliseconds,
    better: Better::Lower,
    needs: "`event_gap_us`, `event_kind`",
    doc: "Gaps between content events of complete answers, all in one pool, so that a long answer weighs more. An event that \
     carries several tokens makes one gap; see tokens per event. Resolution 1 µs.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    Measured::of(columns, &columns.gaps.ranked(), 1e3)
}
