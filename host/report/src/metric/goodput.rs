//! Goodput.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const GOODPUT: FigureDef = FigureDef {
    id: "goodput",
    title: "Goodput",
    unit: Unit::RequestsPerSecond,
    better: Better::Higher,
    needs: "`outcome` and what the limits look at",
    doc: "Complete requests that keep every limit of `[scenario.slo]`, over the window; null without limits. The limit on `itl` \
     holds for every gap of the answer. A limit on a time that the answer should have and has not (no first token where \
     nothing was streamed) is not kept.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    let good = (!columns.slo.is_empty()).then(|| columns.slo.good() as f64);
    Measured::rate(columns, columns.complete(), good)
}
