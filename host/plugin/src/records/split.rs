//! Records in batches.

use super::json_array::JsonArray;
use super::lines::Lines;
use super::window::Window;
use crate::granted::{GrantedFile, Malformed};

/// How a file falls into records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordFormat {
    /// One a line.
    Lines,
    /// The elements of one array.
    JsonArray,
}

/// Some records in a row.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Their bytes, one after another.
    pub(crate) bytes: Vec<u8>,
    /// Where each ends in `bytes`.
    pub(crate) ends: Vec<u32>,
    /// Where each starts in the file.
    pub(crate) offsets: Vec<u64>,
}

/// A record at the window's mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its offset in the file.
    pub(crate) start: u64,
    /// Its length.
    pub(crate) length: usize,
}

enum Splitter {
    Lines(Lines),
    JsonArray(JsonArray),
}

/// The records of a file, from its start.
#[expect(unreachable_pub, reason = "generated bindings name it in a `pub use`")]
pub struct Records {
    window: Window,
    splitter: Splitter,
    longest: usize,
    /// A record that did not fit into the last batch.
    waiting: Option<Found>,
    /// Once the file turned out wrong, it stays so.
    failed: Option<Malformed>,
}

/// Bytes that a record takes in a batch beside its own: its end and its offset.
const OVERHEAD: usize = 12;

impl Records {
    pub(crate) fn new(file: GrantedFile, format: RecordFormat, longest: usize) -> Records {
        let splitter = match format {
            RecordFormat::Lines => Splitter::Lines(Lines),
            RecordFormat::JsonArray => Splitter::JsonArray(JsonArray::default()),
        };
        Records { window: Window::new(file), splitter, longest, waiting: None, failed: None }
    }

    /// At most `max` records and `max_bytes` bytes; one record always fits. None at the end. Records
    /// before a mistake come first, the error with the next call.
    pub(crate) fn next(&mut self, max: usize, max_bytes: usize) -> Result<Batch, Malformed> {
        let mut batch = Batch::default();
        while batch.ends.len() < max {
            let found = match self.waiting.take().map_or_else(|| self.find(), |f| Ok(Some(f))) {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(_) if !batch.ends.is_empty() => break,
                Err(e) => return Err(e),
            };
            let taken = batch.bytes.len() + batch.ends.len() * OVERHEAD;
            if !batch.ends.is_empty() && taken + found.length + OVERHEAD > max_bytes {
                self.waiting = Some(found);
                break;
            }
            batch.bytes.extend_from_slice(&self.window.marked()[..found.length]);
            batch.ends.push(batch.bytes.len() as u32);
            batch.offsets.push(found.start);
        }
        Ok(batch)
    }

    fn find(&mut self) -> Result<Option<Found>, Malformed> {
        if let Some(e) = &self.failed {
            return Err(e.clone());
        }
        if self.window.offset() == 0 {
            skip_byte_order_mark(&mut self.window)?;
        }
        let found = match &mut self.splitter {
            Splitter::Lines(s) => s.next(&mut self.window, self.longest),
            Splitter::JsonArray(s) => s.next(&mut self.window, self.longest),
        };
        if let Err(e) = &found {
            self.failed = Some(e.clone());
        }
        found
    }
}

fn skip_byte_order_mark(window: &mut Window) -> Result<(), Malformed> {
    if window.rest()?.starts_with(b"\xef\xbb\xbf") {
        window.advance(3);
    }
    Ok(())
}

/// Fails where the record that started at `start` is too long already.
pub(crate) fn check_length(window: &Window, start: u64, longest: usize) -> Result<(), Malformed> {
    if window.marked().len() > longest {
        return window.error(start, format!("the record that starts here is longer than {longest} bytes"));
    }
    Ok(())
}
