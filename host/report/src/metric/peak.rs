//! Peak output token throughput.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const PEAK_OUTPUT_THROUGHPUT: FigureDef = FigureDef {
    id: "peak_output_throughput",
    title: "Peak output token throughput",
    unit: Unit::TokensPerSecond,
    better: Better::Higher,
    needs: "`sent_ns`, `event_gap_us`, `event_tokens`, `event_kind`, `output_tokens`",
    doc: "Most output tokens in one second, in buckets of one second from the start of the window (what is left over at its end \
     belongs to the last whole second). An answer's output tokens are spread over its content events by the events' own \
     counts, evenly where they have none; an answer that was not streamed counts at its end. Never below the mean.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    let known = columns.tokens.output.of_all(columns.complete());
    Measured::Value { n: columns.complete(), value: known.and_then(|_| columns.buckets.peak()) }
}
