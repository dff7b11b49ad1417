//! Failure rate.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const FAILURE_RATE: FigureDef = FigureDef {
    id: "failure_rate",
    title: "Failure rate",
    unit: Unit::Share,
    better: Better::Lower,
    needs: "`outcome`",
    doc: "Attempts that are not complete, of all but those on a stale connection. Dropped, cancelled and timed-out requests \
     count.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    let n = columns.counted();
    Measured::Value { n, value: (n > 0).then(|| columns.failed() as f64 / n as f64) }
}
