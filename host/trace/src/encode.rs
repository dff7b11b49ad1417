//! Records to batches of rows.

use crate::error::TraceError;
use crate::schema::{Access, Column, arrow_schema, columns};
use arrow::array::{
    Array, ArrayRef, BooleanBuilder, DictionaryArray, FixedSizeBinaryBuilder, Int8Builder, Int64Builder, ListArray,
    ListBuilder, StringArray, StringBuilder, UInt16Builder,
};
use arrow::datatypes::{DataType, Field, Int8Type, SchemaRef};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use bench_core::decode::EventKind;
use bench_core::record::{Events, RequestRecord};
use std::sync::Arc;

/// Most bytes of text in one row: Arrow counts the bytes of a batch in 32 bits.
const MAX_ROW_TEXT: usize = 1 << 30;

/// Gathers records into batches of rows.
pub(crate) struct BatchBuilder {
    schema: SchemaRef,
    columns: Vec<(&'static Column, Buffer)>,
    /// The words of [`EventKind`], by their number.
    kinds: ArrayRef,
    rows: usize,
    bytes: usize,
}

/// The cells of one column.
enum Buffer {
    Whole(Int64Builder),
    Text(StringBuilder),
    Flag(BooleanBuilder),
    Digest(FixedSizeBinaryBuilder),
    Gaps(ListBuilder<Int64Builder>),
    Tokens(ListBuilder<UInt16Builder>),
    Merged(ListBuilder<BooleanBuilder>),
    Kinds(ListBuilder<Int8Builder>),
}

impl BatchBuilder {
    /// An empty batch, with or without the columns of texts.
    pub(crate) fn new(text: bool) -> BatchBuilder {
        BatchBuilder {
            schema: arrow_schema(text),
            columns: columns(text).map(|c| (c, Buffer::new(c))).collect(),
            kinds: Arc::new(StringArray::from_iter_values(EventKind::ALL.map(EventKind::as_str))),
            rows: 0,
            bytes: 0,
        }
    }

    /// The schema of the batches.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Rows that wait.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// About the bytes that the rows take.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a row; a record that can't be one changes nothing.
    pub(crate) fn push(&mut self, record: &RequestRecord) -> Result<(), TraceError> {
        self.check(record)?;
        for (column, buffer) in &mut self.columns {
            buffer.push(&column.access, record);
        }
        self.rows += 1;
        self.bytes += record_bytes(record);
        Ok(())
    }

    fn check(&self, record: &RequestRecord) -> Result<(), TraceError> {
        let refuse =
            |reason: String| Err(TraceError::Record { request: record.request, attempt: record.attempt, reason });
        let mut text = 0;
        for (column, _) in &self.columns {
            match column.access {
                Access::Whole { get, .. } => {
                    if let Some(value) = get(record).filter(|v| i64::try_from(*v).is_err()) {
                        return refuse(format!("{value} is too much for column `{}`", column.name));
                    }
                }
                Access::Text { get, .. } => text += get(record).map_or(0, str::len),
                _ => {}
            }
        }
        if text > MAX_ROW_TEXT {
            return refuse(format!("its texts have {text} bytes, and the most is {MAX_ROW_TEXT}"));
        }
        if let Some(events) = &record.events {
            let lengths = [
                ("tokens", events.tokens.as_ref().map_or(events.gap_us.len(), Vec::len)),
                ("merged", events.merged.len()),
                ("kind", events.kind.len()),
            ];
            for (list, length) in lengths {
                if length != events.gap_us.len() {
                    return refuse(format!("{} gaps of events, but {length} of `{list}`", events.gap_us.len()));
                }
            }
        }
        Ok(())
    }

    /// The rows as a batch; the builder is empty again.
    pub(crate) fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let arrays = self.columns.iter_mut().map(|(_, b)| b.finish(&self.kinds)).collect::<Result<Vec<_>, _>>()?;
        (self.rows, self.bytes) = (0, 0);
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }
}

impl Buffer {
    fn new(column: &Column) -> Buffer {
        let element = |data_type| Arc::new(Field::new("element", data_type, false));
        match column.access {
            Access::Whole { .. } => Buffer::Whole(Int64Builder::new()),
            Access::Text { .. } | Access::Word { .. } => Buffer::Text(StringBuilder::new()),
            Access::Flag { .. } => Buffer::Flag(BooleanBuilder::new()),
            Access::Digest { .. } => Buffer::Digest(FixedSizeBinaryBuilder::new(32)),
            Access::EventGap => {
                Buffer::Gaps(ListBuilder::new(Int64Builder::new()).with_field(element(DataType::Int64)))
            }
            Access::EventTokens => {
                Buffer::Tokens(ListBuilder::new(UInt16Builder::new()).with_field(element(DataType::UInt16)))
            }
            Access::EventMerged => {
                Buffer::Merged(ListBuilder::new(BooleanBuilder::new()).with_field(element(DataType::Boolean)))
            }
            Access::EventKind => {
                Buffer::Kinds(ListBuilder::new(Int8Builder::new()).with_field(element(DataType::Int8)))
            }
        }
    }

    fn push(&mut self, access: &Access, record: &RequestRecord) {
        match (self, access) {
            (Buffer::Whole(b), Access::Whole { get, .. }) => b.append_option(get(record).map(|v| v as i64)),
            (Buffer::Text(b), Access::Text { get, .. }) => b.append_option(get(record)),
            (Buffer::Text(b), Access::Word { get, .. }) => b.append_option(get(record)),
            (Buffer::Flag(b), Access::Flag { get, .. }) => b.append_option(get(record)),
            (Buffer::Digest(b), Access::Digest { get, .. }) => match get(record) {
                // The only error is another length than the builder's.
                Some(digest) => drop(b.append_value(digest)),
                None => b.append_null(),
            },
            (Buffer::Gaps(b), _) => push_list(b, record.events.as_ref(), |v, e| v.append_slice(&e.gap_us)),
            (Buffer::Tokens(b), _) => {
                let events = record.events.as_ref().filter(|e| e.tokens.is_some());
                push_list(b, events, |v, e| v.append_slice(e.tokens.as_deref().unwrap_or_default()));
            }
            (Buffer::Merged(b), _) => push_list(b, record.events.as_ref(), |v, e| v.append_slice(&e.merged)),
            (Buffer::Kinds(b), _) => push_list(b, record.events.as_ref(), |v, e| {
                e.kind.iter().for_each(|k| v.append_value(kind_number(*k)));
            }),
            // `Buffer::new` made the buffer for the same access.
            _ => {}
        }
    }

    fn finish(&mut self, kinds: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Buffer::Whole(b) => Arc::new(b.finish()),
            Buffer::Text(b) => Arc::new(b.finish()),
            Buffer::Flag(b) => Arc::new(b.finish()),
            Buffer::Digest(b) => Arc::new(b.finish()),
            Buffer::Gaps(b) => Arc::new(b.finish()),
            Buffer::Tokens(b) => Arc::new(b.finish()),
            Buffer::Merged(b) => Arc::new(b.finish()),
            Buffer::Kinds(b) => {
                let (_, offsets, numbers, nulls) = b.finish().into_parts();
                let numbers = arrow::array::Int8Array::from(numbers.to_data());
                let words = DictionaryArray::<Int8Type>::try_new(numbers, Arc::clone(kinds))?;
                let field = Arc::new(Field::new("element", words.data_type().clone(), false));
                Arc::new(ListArray::try_new(field, offsets, Arc::new(words), nulls)?)
            }
        })
    }
}

fn push_list<B: arrow::array::ArrayBuilder>(
    list: &mut ListBuilder<B>,
    events: Option<&Events>,
    push: impl FnOnce(&mut B, &Events),
) {
    if let Some(events) = events {
        push(list.values(), events);
    }
    list.append(events.is_some());
}

/// Place of a kind in [`EventKind::ALL`].
const fn kind_number(kind: EventKind) -> i8 {
    match kind {
        EventKind::Role => 0,
        EventKind::Text => 1,
        EventKind::Reasoning => 2,
        EventKind::Tool => 3,
        EventKind::Usage => 4,
        EventKind::Other => 5,
    }
}

/// About the bytes that a record takes in memory.
pub(crate) fn record_bytes(record: &RequestRecord) -> usize {
    let texts = [&record.finish_reason, &record.error, &record.output_text, &record.reasoning_text];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    let prompt = record.prompt_text.as_ref().map_or(0, |t| t.len());
    // 8 of a gap, 2 of the tokens, 1 of merged, 1 of the kind.
    let events = record.events.as_ref().map_or(0, |e| 12 * e.gap_us.len());
    size_of::<RequestRecord>() + texts + prompt + events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_number_of_their_place() {
        for (place, kind) in EventKind::ALL.into_iter().enumerate() {
            assert_eq!(kind_number(kind) as usize, place);
        }
    }
}
