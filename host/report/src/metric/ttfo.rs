//! Time to first output.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const TTFO: FigureDef = FigureDef {
    id: "ttfo",
    title: "Time to first output",
    unit: Unit::Milliseconds,
    better: Better::Lower,
    needs: "`sent_ns`, `first_content_ns`",
    doc: "First text or tool call - sent: what a reader waits for who is not shown the reasoning. Of complete answers that were \
     streamed and are not all reasoning.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    Measured::of_nanos(columns, &columns.ttfo)
}
