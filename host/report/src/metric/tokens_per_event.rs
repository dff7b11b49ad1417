//! Tokens per event.

use super::registry::{Better, FigureDef, Measured, Unit};
use crate::columns::Columns;

pub(super) const TOKENS_PER_EVENT: FigureDef = FigureDef {
    id: "tokens_per_event",
    title: "Tokens per event",
    unit: Unit::TokensPerEvent,
    better: Better::Neither,
    needs: "`output_tokens`, `event_kind`",
    doc: "Output tokens of complete streamed answers over their content events: the token weight of a gap. Well above 1 the server \
     sends several tokens at a time, and ITL is a time per event.",
    compute,
};

fn compute(columns: &Columns) -> Measured {
    let events = columns.evidence.content_events;
    let streamed = columns.tally.streamed_tokens.filter(|_| events > 0);
    Measured::Value { n: events, value: streamed.map(|tokens| tokens as f64 / events as f64) }
}
