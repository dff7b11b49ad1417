//! Wait for a slot.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const QUEUE_WAIT: FigureDef = FigureDef {
    id: "queue_wait",
    title: "Wait for a slot",
    unit: Unit::Milliseconds,
    better: Better::Lower,
    needs: "`scheduled_ns`, `admitted_ns`",
    doc: "Admitted - scheduled: what a cap on concurrency held back.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    Measured::of_nanos(columns, &columns.queue)
}
