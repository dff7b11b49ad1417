//! A record as the bytes of a journal's row.
//!
//! A row is a bit for each column, set where its cell is not null, and then the cells in the columns' order, little
//! endian. Whole numbers take 8 bytes; a text its length in 4 and its UTF-8; lists begin with their length in 4. The
//! numbers of a list take as many bytes each as the greatest of them needs.

use crate::decode::blank;
use crate::error::TraceError;
use crate::schema::{Access, Column};
use bench_core::decode::EventKind;
use bench_core::record::{Events, RequestRecord};
use std::sync::Arc;

/// Most bytes of text in one row: a page of the trace counts its bytes in 31 bits, and readers count those of a batch.
const MAX_ROW_TEXT: usize = 1 << 30;

/// Appends a record as a row. A record that can't be one leaves `out` as it was.
pub(crate) fn write(columns: &[&'static Column], record: &RequestRecord, out: &mut Vec<u8>) -> Result<(), TraceError> {
    let begin = out.len();
    let written = check_events(record).and_then(|()| write_cells(columns, record, out));
    written.map_err(|reason| {
        out.truncate(begin);
        TraceError::Record { request: record.request, attempt: record.attempt, reason }
    })
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

fn check_events(record: &RequestRecord) -> Result<(), String> {
    let Some(events) = &record.events else { return Ok(()) };
    let lengths = [
        ("tokens", events.tokens.as_ref().map_or(events.gap_us.len(), Vec::len)),
        ("merged", events.merged.len()),
        ("kind", events.kind.len()),
    ];
    match lengths.iter().find(|(_, length)| *length != events.gap_us.len()) {
        Some((list, length)) => Err(format!("{} gaps of events, but {length} of `{list}`", events.gap_us.len())),
        None if u32::try_from(events.gap_us.len()).is_err() => Err(format!("it has {} events", events.gap_us.len())),
        None => Ok(()),
    }
}

fn write_cells(columns: &[&'static Column], record: &RequestRecord, out: &mut Vec<u8>) -> Result<(), String> {
    let present = out.len();
    out.resize(present + columns.len().div_ceil(8), 0);
    let mut text = 0;
    for (place, column) in columns.iter().enumerate() {
        let there = match column.access {
            Access::Whole { get, .. } => match get(record) {
                Some(value) if i64::try_from(value).is_err() => {
                    return Err(format!("{value} is too much for column `{}`", column.name));
                }
                value => value.map(|v| out.extend_from_slice(&v.to_le_bytes())),
            },
            Access::Text { get, .. } => get(record).map(|t| {
                text += t.len();
                write_text(t, out);
            }),
            Access::Word { get, .. } => get(record).map(|word| write_text(word, out)),
            Access::Flag { get, .. } => get(record).map(|flag| out.push(u8::from(flag))),
            Access::Digest { get, .. } => get(record).map(|digest| out.extend_from_slice(&digest)),
            Access::EventGap => record.events.as_ref().map(|e| write_numbers(&e.gap_us, out)),
            Access::EventTokens => {
                record.events.as_ref().and_then(|e| e.tokens.as_ref()).map(|tokens| write_numbers(tokens, out))
            }
            Access::EventMerged => record.events.as_ref().map(|e| write_bits(&e.merged, out)),
            Access::EventKind => record.events.as_ref().map(|e| write_kinds(&e.kind, out)),
        };
        if text > MAX_ROW_TEXT {
            return Err(format!("its texts have more than {MAX_ROW_TEXT} bytes"));
        }
        if there.is_some() {
            out[present + place / 8] |= 1 << (place % 8);
        }
    }
    Ok(())
}

fn write_length(length: usize, out: &mut Vec<u8>) {
    // The callers made sure that 32 bits hold it.
    out.extend_from_slice(&(length as u32).to_le_bytes());
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    write_length(text.len(), out);
    out.extend_from_slice(text.as_bytes());
}

/// The bytes that a number takes in two's complement follow from its bits but for those that repeat its sign.
fn write_numbers<T: Copy + Into<i64>>(numbers: &[T], out: &mut Vec<u8>) {
    let bits = numbers.iter().fold(0u64, |bits, n| {
        let n: i64 = (*n).into();
        bits | (n ^ (n >> 63)) as u64
    });
    let width = (65 - bits.leading_zeros() as usize).div_ceil(8);
    write_length(numbers.len(), out);
    out.push(width as u8);
    match width {
        1 => write_narrow::<1, T>(numbers, out),
        2 => write_narrow::<2, T>(numbers, out),
        3 => write_narrow::<3, T>(numbers, out),
        4 => write_narrow::<4, T>(numbers, out),
        5 => write_narrow::<5, T>(numbers, out),
        6 => write_narrow::<6, T>(numbers, out),
        7 => write_narrow::<7, T>(numbers, out),
        _ => write_narrow::<8, T>(numbers, out),
    }
}

/// The lowest `WIDTH` bytes of each number.
fn write_narrow<const WIDTH: usize, T: Copy + Into<i64>>(numbers: &[T], out: &mut Vec<u8>) {
    let begin = out.len();
    out.resize(begin + WIDTH * numbers.len(), 0);
    for (place, n) in out[begin..].as_chunks_mut::<WIDTH>().0.iter_mut().zip(numbers) {
        let n: i64 = (*n).into();
        place.copy_from_slice(&n.to_le_bytes()[..WIDTH]);
    }
}

fn write_bits(flags: &[bool], out: &mut Vec<u8>) {
    write_length(flags.len(), out);
    pack_bits(flags, |flag| u8::from(*flag), out);
}

/// A bit for each flag, the first one lowest.
pub(crate) fn pack_bits<T>(flags: &[T], bit: impl Fn(&T) -> u8, out: &mut Vec<u8>) {
    let (eights, rest) = flags.as_chunks::<8>();
    // The product has the lowest bit of byte i at place 56 + i.
    let pack = |eight: &[T; 8]| {
        let bytes: [u8; 8] = std::array::from_fn(|i| bit(&eight[i]));
        (u64::from_le_bytes(bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
    };
    out.extend(eights.iter().map(pack));
    if !rest.is_empty() {
        out.push(rest.iter().enumerate().fold(0, |byte, (i, flag)| byte | bit(flag) << i));
    }
}

/// Runs of one kind: its number and the length.
fn write_kinds(kinds: &[EventKind], out: &mut Vec<u8>) {
    write_length(kinds.len(), out);
    for run in kinds.chunk_by(|a, b| a == b) {
        out.push(kind_number(run[0]));
        write_length(run.len(), out);
    }
}

/// Place of a kind in [`EventKind::ALL`].
pub(crate) const fn kind_number(kind: EventKind) -> u8 {
    match kind {
        EventKind::Role => 0,
        EventKind::Text => 1,
        EventKind::Reasoning => 2,
        EventKind::Tool => 3,
        EventKind::Usage => 4,
        EventKind::Other => 5,
    }
}

/// Reads rows back.
pub(crate) struct RowReader {
    columns: Vec<&'static Column>,
    /// The text that each column had last: equal neighbours share one.
    last: Vec<Option<Arc<str>>>,
}

impl RowReader {
    /// Reads rows of these columns.
    pub(crate) fn new(columns: Vec<&'static Column>) -> RowReader {
        let last = vec![None; columns.len()];
        RowReader { columns, last }
    }

    /// Takes a row off the bytes; `None` where they do not begin with one.
    pub(crate) fn read(&mut self, bytes: &mut &[u8]) -> Option<RequestRecord> {
        let present = take(bytes, self.columns.len().div_ceil(8))?;
        let mut record = blank();
        let mut events: Option<Events> = None;
        for (place, column) in self.columns.iter().enumerate() {
            if present[place / 8] & (1 << (place % 8)) == 0 {
                continue;
            }
            match column.access {
                Access::Whole { set, .. } => set(&mut record, u64::from_le_bytes(take_array(bytes)?))?,
                Access::Text { set, .. } => set(&mut record, take_text(bytes)?, &mut self.last[place]),
                Access::Word { set, .. } => set(&mut record, take_text(bytes)?).ok()?,
                Access::Flag { set, .. } => set(&mut record, take_array::<1>(bytes)? != [0]),
                Access::Digest { set, .. } => set(&mut record, take_array(bytes)?),
                Access::EventGap => events.get_or_insert_default().gap_us = take_numbers(bytes)?.collect(),
                Access::EventTokens => {
                    let tokens = take_numbers(bytes)?.map(|n| n.try_into().ok());
                    events.get_or_insert_default().tokens = Some(tokens.collect::<Option<_>>()?);
                }
                Access::EventMerged => events.get_or_insert_default().merged = take_bits(bytes)?,
                Access::EventKind => events.get_or_insert_default().kind = take_kinds(bytes)?,
            }
        }
        record.events = events;
        check_events(&record).ok()?;
        Some(record)
    }
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn take_array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    take(bytes, N)?.try_into().ok()
}

fn take_length(bytes: &mut &[u8]) -> Option<usize> {
    take_array(bytes).map(|length| u32::from_le_bytes(length) as usize)
}

fn take_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let length = take_length(bytes)?;
    std::str::from_utf8(take(bytes, length)?).ok()
}

fn take_numbers<'a>(bytes: &mut &'a [u8]) -> Option<impl Iterator<Item = i64> + use<'a>> {
    let length = take_length(bytes)?;
    let [width] = take_array(bytes)?;
    let width = Some(usize::from(width)).filter(|w| (1..=8).contains(w))?;
    let numbers = take(bytes, length.checked_mul(width)?)?;
    Some(numbers.chunks_exact(width).map(move |number| {
        let mut bytes = [0; 8];
        bytes[8 - width..].copy_from_slice(number);
        // Shifted down from the upper end, so that the sign goes with it.
        i64::from_le_bytes(bytes) >> (64 - 8 * width)
    }))
}

fn take_bits(bytes: &mut &[u8]) -> Option<Vec<bool>> {
    let length = take_length(bytes)?;
    let bits = take(bytes, length.div_ceil(8))?;
    Some((0..length).map(|i| bits[i / 8] & (1 << (i % 8)) != 0).collect())
}

fn take_kinds(bytes: &mut &[u8]) -> Option<Vec<EventKind>> {
    let length = take_length(bytes)?;
    let mut kinds = Vec::new();
    while kinds.len() < length {
        let [number] = take_array(bytes)?;
        let run = take_length(bytes)?;
        if run == 0 || run > length - kinds.len() {
            return None;
        }
        kinds.resize(kinds.len() + run, *EventKind::ALL.get(usize::from(number))?);
    }
    Some(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_number_of_their_place() {
        for (place, kind) in EventKind::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(kind_number(kind)), place);
        }
    }

    #[test]
    fn flags_are_packed_lowest_first() {
        for length in 0..40 {
            let flags: Vec<bool> = (0..length).map(|i| i % 3 == 0 || i % 7 == 2).collect();
            let mut bytes = Vec::new();
            write_bits(&flags, &mut bytes);
            assert_eq!(bytes.len(), 4 + flags.len().div_ceil(8));
            for (i, flag) in flags.iter().enumerate() {
                assert_eq!(bytes[4 + i / 8] >> (i % 8) & 1, u8::from(*flag), "{i} of {length}");
            }
            assert_eq!(take_bits(&mut bytes.as_slice()), Some(flags));
        }
    }

    #[test]
    fn numbers_take_the_bytes_that_the_greatest_needs() {
        for (numbers, width) in [
            (&[][..], 1),
            (&[0, -1, 127, -128], 1),
            (&[128], 2),
            (&[-129, 5], 2),
            (&[0x7f_ffff, 1], 3),
            (&[1 << 55], 8),
            (&[i64::MIN, i64::MAX, 0, -1], 8),
        ] {
            let mut bytes = Vec::new();
            write_numbers(numbers, &mut bytes);
            assert_eq!(bytes.len(), 5 + width * numbers.len(), "{numbers:?}");
            let mut rest = bytes.as_slice();
            assert_eq!(take_numbers(&mut rest).unwrap().collect::<Vec<_>>(), numbers);
            assert!(rest.is_empty());
        }
    }
}
