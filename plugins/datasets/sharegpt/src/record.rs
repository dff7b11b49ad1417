//! What a record of the file holds, seen as Python sees it.

use crate::json::{Kind, Malformed, Reader, Text};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Why a record gives no sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flaw {
    NotJson,
    NotObject,
    NoConversations,
    NotList,
    FewTurns,
    NoText,
    LoneSurrogate,
    NoPerson,
    Length,
}

impl Flaw {
    /// Code of the note.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Flaw::FewTurns => "few-turns",
            Flaw::NoPerson => "no-person",
            Flaw::Length => "length-filter",
            _ => "skipped-record",
        }
    }

    /// Text of the note.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Flaw::NotJson => "record is not valid JSON",
            Flaw::NotObject => "record is not an object",
            Flaw::NoConversations => "record has no `conversations`",
            Flaw::NotList => "`conversations` is not a list",
            Flaw::FewTurns => "record has fewer than two turns",
            Flaw::NoText => "a turn of the record has no text `value`",
            Flaw::LoneSurrogate => "text has half of a surrogate pair, which no request can carry",
            Flaw::NoPerson => "record has no turn of a person that the model answers",
            Flaw::Length => "prompt or answer is outside of the sampler's length limits",
        }
    }
}

impl From<Malformed> for Flaw {
    fn from(_: Malformed) -> Flaw {
        Flaw::NotJson
    }
}

/// One turn of a conversation; the fields are there where they are texts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn<'a> {
    from: Option<Text<'a>>,
    value: Option<Text<'a>>,
}

impl<'a> Turn<'a> {
    /// The role word of the speaker.
    pub(crate) fn speaker(&self) -> Option<Cow<'a, str>> {
        self.from.and_then(|from| from.decode())
    }

    pub(crate) fn value(&self) -> Result<Cow<'a, str>, Flaw> {
        self.value.ok_or(Flaw::NoText)?.decode().ok_or(Flaw::LoneSurrogate)
    }
}

/// Whether `len(record["conversations"]) >= 2` in Python. A text or an object has a length there, too: such a record
/// takes part in the shuffle and fails only when its turn comes.
pub(crate) fn has_two_turns(record: &[u8]) -> Result<(), Flaw> {
    let length = with_conversations(record, length)?.ok_or(Flaw::NotList)?;
    if length < 2 { Err(Flaw::FewTurns) } else { Ok(()) }
}

/// The turns of a record.
pub(crate) fn turns(record: &[u8]) -> Result<Vec<Turn<'_>>, Flaw> {
    with_conversations(record, |value| {
        if value.kind() != Kind::Array {
            value.skip()?;
            return Ok(None);
        }
        let mut turns = Vec::new();
        value.array(|element| {
            turns.push(turn(element)?);
            Ok(())
        })?;
        Ok(Some(turns))
    })?
    .ok_or(Flaw::NotList)
}

/// Reads the whole record; gives what `read` made of the last `conversations` in it.
fn with_conversations<'a, T>(
    record: &'a [u8],
    mut read: impl FnMut(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<T, Flaw> {
    let mut reader = Reader::new(record)?;
    if reader.kind() != Kind::Object {
        reader.skip()?;
        reader.finish()?;
        return Err(Flaw::NotObject);
    }
    let mut found = None;
    reader.object(|key, value| {
        if key.is("conversations") {
            found = Some(read(value)?);
            return Ok(());
        }
        value.skip()
    })?;
    reader.finish()?;
    found.ok_or(Flaw::NoConversations)
}

/// Python's `len` of the next value; `None` where it has none.
fn length(value: &mut Reader<'_>) -> Result<Option<usize>, Malformed> {
    let mut count = 0;
    match value.kind() {
        Kind::Array => value.array(|element| {
            count += 1;
            element.skip()
        })?,
        Kind::Text => count = value.text()?.code_points().len(),
        Kind::Object => {
            let mut keys = BTreeSet::new();
            value.object(|key, member| {
                keys.insert(key.code_points());
                member.skip()
            })?;
            count = keys.len();
        }
        Kind::Other => {
            value.skip()?;
            return Ok(None);
        }
    }
    Ok(Some(count))
}

fn turn<'a>(element: &mut Reader<'a>) -> Result<Turn<'a>, Malformed> {
    let mut turn = Turn::default();
    if element.kind() != Kind::Object {
        element.skip()?;
        return Ok(turn);
    }
    element.object(|key, value| {
        let field = if key.is("value") {
            &mut turn.value
        } else if key.is("from") {
            &mut turn.from
        } else {
            return value.skip();
        };
        *field = None;
        if value.kind() != Kind::Text {
            return value.skip();
        }
        *field = Some(value.text()?);
        Ok(())
    })?;
    Ok(turn)
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
