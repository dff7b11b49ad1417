//! Requests in flight.

use super::registry::{Better, FigureDef, Measured, Unit};

pub(super) const CONCURRENCY_MEAN: FigureDef = FigureDef {
    id: "concurrency_mean",
    title: "Mean requests in flight",
    unit: Unit::Requests,
    better: Better::Neither,
    needs: "`sent_ns`, `end_ns` and the window",
    doc: "Time from sent to end of all measured attempts, failed ones too, over the window (Little's law).",
    compute: |columns| Measured::Value { n: columns.flight.sent(), value: columns.flight.mean(columns.window) },
};

pub(super) const CONCURRENCY_PEAK: FigureDef = FigureDef {
    id: "concurrency_peak",
    title: "Most requests in flight",
    unit: Unit::Requests,
    better: Better::Neither,
    needs: "`sent_ns`, `end_ns`",
    doc: "Most attempts in flight at one moment. One that ends when another is sent does not overlap it.",
    compute: |columns| {
        let n = columns.flight.sent();
        Measured::Value { n, value: (n > 0).then(|| columns.flight.peak() as f64) }
    },
};
