//! Read lag.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const READ_LAG: FigureDef = FigureDef {
    id: "read_lag",
    title: "Read lag",
    unit: Unit::Milliseconds,
    better: Better::Lower,
    needs: "`stamp_lag_ns`",
    doc: "Greatest time from the kernel's stamp to the client's read among the events of a complete answer. Times are right \
     all the same; but a great lag means merged reads.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    Measured::of_nanos(columns, &columns.read_lag)
}
