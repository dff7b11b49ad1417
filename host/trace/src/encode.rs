//! The cells of columns that have one value a row, as Arrow arrays.

use crate::schema::{Access, Column};
use arrow::array::{ArrayRef, BooleanBuilder, FixedSizeBinaryBuilder, Int64Builder, StringBuilder};
use bench_core::record::RequestRecord;
use std::sync::Arc;

/// The cells of one column.
pub(crate) enum Cells {
    Whole(Int64Builder),
    Text(StringBuilder),
    Flag(BooleanBuilder),
    Digest(FixedSizeBinaryBuilder),
}

impl Cells {
    /// None yet; `None` for a column of lists.
    pub(crate) fn new(column: &Column) -> Option<Cells> {
        Some(match column.access {
            Access::Whole { .. } => Cells::Whole(Int64Builder::new()),
            Access::Text { .. } | Access::Word { .. } => Cells::Text(StringBuilder::new()),
            Access::Flag { .. } => Cells::Flag(BooleanBuilder::new()),
            Access::Digest { .. } => Cells::Digest(FixedSizeBinaryBuilder::new(32)),
            Access::EventGap | Access::EventTokens | Access::EventMerged | Access::EventKind => return None,
        })
    }

    /// Adds a record's cell.
    pub(crate) fn push(&mut self, access: &Access, record: &RequestRecord) {
        match (self, access) {
            (Cells::Whole(b), Access::Whole { get, .. }) => b.append_option(get(record).map(|v| v as i64)),
            (Cells::Text(b), Access::Text { get, .. }) => b.append_option(get(record)),
            (Cells::Text(b), Access::Word { get, .. }) => b.append_option(get(record)),
            (Cells::Flag(b), Access::Flag { get, .. }) => b.append_option(get(record)),
            (Cells::Digest(b), Access::Digest { get, .. }) => match get(record) {
                // The only error is another length than the builder's.
                Some(digest) => drop(b.append_value(digest)),
                None => b.append_null(),
            },
            // `Cells::new` made them for the same access.
            _ => {}
        }
    }

    /// The cells as an array; there are none again.
    pub(crate) fn finish(&mut self) -> ArrayRef {
        match self {
            Cells::Whole(b) => Arc::new(b.finish()),
            Cells::Text(b) => Arc::new(b.finish()),
            Cells::Flag(b) => Arc::new(b.finish()),
            Cells::Digest(b) => Arc::new(b.finish()),
        }
    }
}

/// About the bytes that a record takes in memory.
pub(crate) fn record_bytes(record: &RequestRecord) -> usize {
    // 8 of a gap, 2 of the tokens, 1 of merged, 1 of the kind.
    let events = record.events.as_ref().map_or(0, |e| 12 * e.gap_us.len());
    size_of::<RequestRecord>() + text_bytes(record) + events
}

/// Bytes of a record's long texts.
pub(crate) fn text_bytes(record: &RequestRecord) -> usize {
    let texts = [&record.finish_reason, &record.error, &record.output_text, &record.reasoning_text];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    texts + record.prompt_text.as_ref().map_or(0, |t| t.len())
}
