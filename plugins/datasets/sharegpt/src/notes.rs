//! Counts of what the user should know.

use bench_sdk::dataset::Note;

/// Notes by code and message, in the order in which they first came up.
#[derive(Debug, Default)]
pub(crate) struct Notes(Vec<Note>);

impl Notes {
    /// Counts one more, at this offset of the source.
    pub(crate) fn add(&mut self, code: &str, message: &str, offset: u64) {
        if let Some(note) = self.0.iter_mut().find(|n| n.code == code && n.message == message) {
            note.count += 1;
            note.offset = note.offset.map(|first| first.min(offset));
            return;
        }
        self.0.push(Note { code: code.to_owned(), message: message.to_owned(), count: 1, offset: Some(offset) });
    }

    pub(crate) fn list(&self) -> Vec<Note> {
        self.0.clone()
    }
}
