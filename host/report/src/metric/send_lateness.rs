//! Send lateness.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const SEND_LATENESS: FigureDef = FigureDef {
    id: "send_lateness",
    title: "Send lateness",
    unit: Unit::Milliseconds,
    better: Better::Lower,
    needs: "`scheduled_ns`, `sent_ns`",
    doc: "Sent - scheduled, of every request that was sent, whatever came of it: the client's own error and the wait for a slot \
     or a connection.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    Measured::of_nanos(columns, &columns.lateness)
}
