//! Batches of rows to records.

use crate::columns::COLUMNS;
use crate::error::TraceError;
use crate::schema::{Access, Column};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, FixedSizeBinaryArray, Int64Array, ListArray, StringArray, UInt16Array,
};
use arrow::datatypes::{Int64Type, UInt16Type};
use arrow::record_batch::RecordBatch;
use bench_core::clock::Nanos;
use bench_core::decode::EventKind;
use bench_core::outcome::Outcome;
use bench_core::record::{Events, Phase, RequestRecord};
use std::path::Path;
use std::sync::Arc;

/// Where a batch comes from, for errors.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    /// Number of the batch's first row in the file.
    pub(crate) first_row: u64,
}

impl Origin<'_> {
    fn cell(self, row: usize, column: &'static str, reason: impl Into<String>) -> TraceError {
        TraceError::Cell { path: self.path.to_owned(), row: self.first_row + row as u64, column, reason: reason.into() }
    }

    fn missing(self, column: &str, expected: &str) -> TraceError {
        TraceError::MissingColumn {
            path: self.path.to_owned(),
            column: column.to_owned(),
            expected: expected.to_owned(),
        }
    }
}

/// The records of a batch. Columns that it lacks are null where they may be.
pub(crate) fn records(batch: &RecordBatch, origin: Origin<'_>) -> Result<Vec<RequestRecord>, TraceError> {
    let mut records = vec![blank(); batch.num_rows()];
    let mut lists: [Option<&ListArray>; 4] = [None; 4];
    for column in COLUMNS {
        let Some(array) = batch.column_by_name(column.name) else {
            if column.null.is_none() {
                return Err(origin.missing(column.name, column.type_name()));
            }
            continue;
        };
        if column.null.is_none() && array.null_count() > 0 {
            let row = (0..array.len()).find(|row| array.is_null(*row)).unwrap_or_default();
            return Err(origin.cell(row, column.name, "null where it must not be"));
        }
        let place = match column.access {
            Access::EventGap => 0,
            Access::EventTokens => 1,
            Access::EventMerged => 2,
            Access::EventKind => 3,
            _ => {
                fill(column, array, &mut records, origin)?;
                continue;
            }
        };
        lists[place] = Some(typed(array.as_list_opt::<i32>(), column, origin)?);
    }
    fill_events(lists, &mut records, origin)?;
    Ok(records)
}

fn typed<'a, T>(array: Option<&'a T>, column: &Column, origin: Origin<'_>) -> Result<&'a T, TraceError> {
    array.ok_or_else(|| origin.missing(column.name, column.type_name()))
}

fn fill(
    column: &'static Column,
    array: &ArrayRef,
    records: &mut [RequestRecord],
    origin: Origin<'_>,
) -> Result<(), TraceError> {
    let there = |row: &usize| array.is_valid(*row);
    let rows = (0..array.len()).filter(there);
    match column.access {
        Access::Whole { set, .. } => {
            let values: &Int64Array = typed(array.as_primitive_opt::<Int64Type>(), column, origin)?;
            for row in rows {
                let value = values.value(row);
                u64::try_from(value)
                    .ok()
                    .and_then(|v| set(&mut records[row], v))
                    .ok_or_else(|| origin.cell(row, column.name, format!("{value} is out of range")))?;
            }
        }
        Access::Text { set, .. } => {
            let values: &StringArray = typed(array.as_string_opt::<i32>(), column, origin)?;
            let mut last = None;
            rows.for_each(|row| set(&mut records[row], values.value(row), &mut last));
        }
        Access::Word { set, .. } => {
            let values: &StringArray = typed(array.as_string_opt::<i32>(), column, origin)?;
            for row in rows {
                set(&mut records[row], values.value(row))
                    .map_err(|error| origin.cell(row, column.name, error.to_string()))?;
            }
        }
        Access::Flag { set, .. } => {
            let values: &BooleanArray = typed(array.as_boolean_opt(), column, origin)?;
            rows.for_each(|row| set(&mut records[row], values.value(row)));
        }
        Access::Digest { set, .. } => {
            let values: &FixedSizeBinaryArray = typed(array.as_fixed_size_binary_opt(), column, origin)?;
            for row in rows {
                let digest = values.value(row).try_into();
                set(&mut records[row], digest.map_err(|_| origin.cell(row, column.name, "a SHA-256 has 32 bytes"))?);
            }
        }
        Access::EventGap | Access::EventTokens | Access::EventMerged | Access::EventKind => {}
    }
    Ok(())
}

/// The four lists of events: gap, tokens, merged, kind.
fn fill_events(
    [gaps, tokens, merged, kinds]: [Option<&ListArray>; 4],
    records: &mut [RequestRecord],
    origin: Origin<'_>,
) -> Result<(), TraceError> {
    let Some(gaps) = gaps else { return Ok(()) };
    for (row, record) in records.iter_mut().enumerate() {
        if gaps.is_null(row) {
            continue;
        }
        let gap: ArrayRef = gaps.value(row);
        let gap: &Int64Array =
            gap.as_primitive_opt::<Int64Type>().ok_or_else(|| origin.missing("event_gap_us", "list<int64>"))?;
        let events = gap.len();
        let tokens = element(tokens, row, events, "event_tokens", origin)?;
        let tokens = tokens
            .map(|t| match t.as_primitive_opt::<UInt16Type>() {
                Some(t) => Ok::<Vec<u16>, _>(UInt16Array::values(t).to_vec()),
                None => Err(origin.missing("event_tokens", "list<uint16>")),
            })
            .transpose()?;
        let merged = element(merged, row, events, "event_merged", origin)?
            .ok_or_else(|| origin.cell(row, "event_merged", "null beside events"))?;
        let merged = merged.as_boolean_opt().ok_or_else(|| origin.missing("event_merged", "list<bool>"))?;
        let kinds = element(kinds, row, events, "event_kind", origin)?
            .ok_or_else(|| origin.cell(row, "event_kind", "null beside events"))?;
        let kinds = kinds.as_string_opt::<i32>().ok_or_else(|| origin.missing("event_kind", "list<utf8>"))?;
        let mut kind = Vec::with_capacity(events);
        for word in kinds.iter().flatten() {
            kind.push(
                event_kind(word)
                    .ok_or_else(|| origin.cell(row, "event_kind", format!("`{word}` is no kind of event")))?,
            );
        }
        record.events =
            Some(Events { gap_us: gap.values().to_vec(), tokens, merged: merged.values().iter().collect(), kind });
    }
    Ok(())
}

/// The values of one row of a list; as many as there are events, none of them null.
fn element(
    list: Option<&ListArray>,
    row: usize,
    events: usize,
    column: &'static str,
    origin: Origin<'_>,
) -> Result<Option<ArrayRef>, TraceError> {
    let Some(list) = list.filter(|l| l.is_valid(row)) else { return Ok(None) };
    let values = list.value(row);
    if values.len() != events || values.null_count() > 0 {
        return Err(origin.cell(row, column, format!("{} values for {events} events", values.len())));
    }
    Ok(Some(values))
}

fn event_kind(word: &str) -> Option<EventKind> {
    EventKind::ALL.into_iter().find(|k| k.as_str() == word)
}

/// A record in which everything that can be absent is; the columns that are never null fill the rest.
pub(crate) fn blank() -> RequestRecord {
    RequestRecord {
        scenario: Arc::from(""),
        stage: None,
        candidate: None,
        repeat: 0,
        request: 0,
        attempt: 0,
        session: None,
        turn: None,
        replica: 0,
        worker: 0,
        phase: Phase::Measure,
        dataset_sample: None,
        prompt_sha256: None,
        scheduled: Nanos::ZERO,
        admitted: None,
        sent: None,
        first_byte: None,
        first_token: None,
        first_content: None,
        last_token: None,
        end: Nanos::ZERO,
        stamp: None,
        stamp_lag: None,
        events: None,
        streamed: None,
        prompt_tokens_asked: None,
        prompt_tokens: None,
        cached_tokens: None,
        output_tokens_asked: None,
        output_tokens: None,
        reasoning_tokens: None,
        token_source: None,
        outcome: Outcome::Complete,
        http_status: None,
        finish_reason: None,
        error: None,
        bytes_sent: 0,
        bytes_received: 0,
        connection_reused: None,
        output_sha256: None,
        prompt_text: None,
        output_text: None,
        reasoning_text: None,
    }
}
