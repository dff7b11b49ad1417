//! Batches of rows to records.

use crate::columns::COLUMNS;
use crate::error::TraceError;
use crate::schema::{Access, Column};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, FixedSizeBinaryArray, Int64Array, ListArray, StringArray};
use arrow::datatypes::{Int32Type, Int64Type, UInt16Type};
use arrow::record_batch::RecordBatch;
use bench_core::clock::Nanos;
use bench_core::decode::EventKind;
use bench_core::outcome::Outcome;
use bench_core::record::{Events, Phase, RequestRecord};
use std::ops::Range;
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

/// The records of a batch, or of some of its columns. Columns that it lacks are null where they may be; those that are
/// not asked for have the values of [`blank`].
pub(crate) fn records(
    batch: &RecordBatch,
    asked: Option<&[&'static str]>,
    origin: Origin<'_>,
) -> Result<Vec<RequestRecord>, TraceError> {
    let mut records = vec![blank(); batch.num_rows()];
    let mut lists: [Option<&ListArray>; 4] = [None; 4];
    for column in COLUMNS.iter().filter(|c| asked.is_none_or(|asked| asked.contains(&c.name))) {
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
    let whole = |array: &ArrayRef| array.as_primitive_opt::<Int64Type>().map(|a| a.values().clone());
    let Some(gaps) = List::new(gaps, ("event_gap_us", "list<int64>"), origin, whole)? else { return Ok(()) };
    let counts = |array: &ArrayRef| array.as_primitive_opt::<UInt16Type>().map(|a| a.values().clone());
    let tokens = List::new(tokens, ("event_tokens", "list<uint16>"), origin, counts)?;
    let flags = |array: &ArrayRef| array.as_boolean_opt().map(|a| a.values().clone());
    let merged = List::new(merged, ("event_merged", "list<bool>"), origin, flags)?;
    let kinds = List::new(kinds, ("event_kind", "list<utf8>"), origin, Kinds::new)?;
    for (row, record) in records.iter_mut().enumerate() {
        let Some(place) = gaps.row(row, None)? else { continue };
        let events = Some(place.len());
        let (merged, merged_at) = required(&merged, "event_merged", row, events, origin)?;
        let (kinds, kinds_at) = required(&kinds, "event_kind", row, events, origin)?;
        let tokens = match &tokens {
            Some(list) => list.row(row, events)?.map(|at| list.values[at].to_vec()),
            None => None,
        };
        record.events = Some(Events {
            gap_us: gaps.values[place].to_vec(),
            tokens,
            merged: merged.values.slice(merged_at.start, merged_at.len()).iter().collect(),
            kind: kinds.values.of(kinds_at).map_err(|reason| origin.cell(row, "event_kind", reason))?,
        });
    }
    Ok(())
}

/// A column of lists, and all their values.
struct List<'a, T> {
    list: &'a ListArray,
    values: T,
    column: &'static str,
    origin: Origin<'a>,
}

impl<'a, T> List<'a, T> {
    /// `None` where every list is null: then its values may be of any type.
    fn new(
        list: Option<&'a ListArray>,
        (column, expected): (&'static str, &str),
        origin: Origin<'a>,
        values: impl FnOnce(&'a ArrayRef) -> Option<T>,
    ) -> Result<Option<List<'a, T>>, TraceError> {
        let Some(list) = list.filter(|l| l.null_count() < l.len()) else { return Ok(None) };
        let values = values(list.values()).ok_or_else(|| origin.missing(column, expected))?;
        Ok(Some(List { list, values, column, origin }))
    }

    /// Where the values of a row lie; as many as there are events, none of them null. `None` for a null list.
    fn row(&self, row: usize, events: Option<usize>) -> Result<Option<Range<usize>>, TraceError> {
        if self.list.is_null(row) {
            return Ok(None);
        }
        let ends = self.list.value_offsets();
        let place = ends[row] as usize..ends[row + 1] as usize;
        let events = events.unwrap_or(place.len());
        let values = self.list.values();
        let nulls = values.null_count() > 0 && values.slice(place.start, place.len()).null_count() > 0;
        if place.len() != events || nulls {
            let reason = format!("{} values for {events} events", place.len());
            return Err(self.origin.cell(row, self.column, reason));
        }
        Ok(Some(place))
    }
}

/// A list that must be there beside events.
fn required<'a, 'b, T>(
    list: &'b Option<List<'a, T>>,
    column: &'static str,
    row: usize,
    events: Option<usize>,
    origin: Origin<'_>,
) -> Result<(&'b List<'a, T>, Range<usize>), TraceError> {
    let there = match list {
        Some(list) => list.row(row, events)?.map(|place| (list, place)),
        None => None,
    };
    there.ok_or_else(|| origin.cell(row, column, "null beside events"))
}

/// Kinds of events by their place in a dictionary.
struct Kinds<'a> {
    places: &'a [i32],
    words: Vec<(&'a str, Option<EventKind>)>,
}

impl<'a> Kinds<'a> {
    fn new(array: &'a ArrayRef) -> Option<Kinds<'a>> {
        let words = array.as_dictionary_opt::<Int32Type>()?;
        let kind = |word: &'a str| (word, EventKind::ALL.into_iter().find(|k| k.as_str() == word));
        let places = words.keys().values();
        Some(Kinds { places, words: words.values().as_string_opt::<i32>()?.iter().flatten().map(kind).collect() })
    }

    fn of(&self, events: Range<usize>) -> Result<Vec<EventKind>, String> {
        let mut kinds = Vec::with_capacity(events.len());
        for place in &self.places[events] {
            match self.words.get(*place as usize) {
                Some((_, Some(kind))) => kinds.push(*kind),
                Some((word, None)) => return Err(format!("`{word}` is no kind of event")),
                None => return Err(format!("word {place} of {}", self.words.len())),
            }
        }
        Ok(kinds)
    }
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
        dns: None,
        connect: None,
        tls: None,
        output_sha256: None,
        prompt_text: None,
        output_text: None,
        reasoning_text: None,
    }
}
