//! The first pass: where the records that take part lie.

use crate::notes::Notes;
use crate::record::has_two_turns;

/// Where a record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Byte offset in the source.
    pub(crate) offset: u64,
    /// Length in bytes.
    pub(crate) length: u32,
    /// Number in the source, from 0, the records that take no part counted too.
    pub(crate) number: u32,
}

/// Places of the records that take part, 16 bytes each: the records themselves are read again when chosen.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) places: Vec<Place>,
    pub(crate) notes: Notes,
    records: u32,
}

impl Index {
    /// Looks at the next record of the source.
    pub(crate) fn add(&mut self, offset: u64, record: &[u8]) {
        let number = self.records;
        self.records += 1;
        match has_two_turns(record) {
            Ok(()) => self.places.push(Place { offset, length: record.len() as u32, number }),
            Err(flaw) => self.notes.add(flaw.code(), flaw.message(), offset),
        }
    }
}
