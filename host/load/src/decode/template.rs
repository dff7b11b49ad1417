//! Frames that differ from the one before in nothing but the text they carry, and in strings that nobody
//! takes, as an id: nearly all frames. Their JSON need not be parsed again.

use super::plan::Facts;
use crate::stream::Frame;
use std::ops::Range;

/// A frame with one text and nothing else that a plan takes.
///
/// Where a frame differs from it only within strings, and they are strings still, it is parsed to the same
/// facts with that text: tokens of the JSON were put in the place of tokens of the same kind.
#[derive(Clone, Debug)]
pub(super) struct Template {
    /// Strings in which frames may differ, quotes included, ascending.
    strings: Vec<Range<usize>>,
    /// Which of them is the text.
    text: usize,
    is_reasoning: bool,
}

impl Template {
    /// Of a frame and what it said, where nothing but its text is of interest.
    pub(super) fn of(frame: &[u8], facts: &Facts) -> Option<Template> {
        let [Some(text)] = &facts.texts[..] else { return None };
        let more = facts.tool
            || facts.tokens.is_some()
            || facts.finish.is_some()
            || facts.usage.is_some()
            || facts.error.is_some();
        // Where invalid UTF-8 was replaced the places are those of other bytes.
        if more || std::str::from_utf8(frame).is_err() {
            return None;
        }
        let is_string = |at: &Range<usize>| frame.get(at.clone()).is_some_and(|s| s.len() > 1 && s[0] == b'"');
        let is_plain_string = |at: &Range<usize>| is_string(at) && is_plain(&frame[at.start + 1..at.end - 1]);
        let mut strings: Vec<Range<usize>> = facts.ignored.iter().filter(|at| is_plain_string(at)).cloned().collect();
        let place = strings.partition_point(|at| at.start < text.start);
        strings.insert(place, text.clone());
        is_string(text).then_some(Template { strings, text: place, is_reasoning: facts.text.is_empty() })
    }

    /// What a frame says, where it is of this form. Of frames that came one after another each has to be
    /// shown.
    pub(super) fn text(&mut self, frame: &Frame<'_>) -> Option<Facts> {
        for edit in frame.edits {
            // Edits before this one have moved the strings behind them, so both count in this frame's bytes.
            let inside = |s: &Range<usize>| s.start < edit.at && edit.at + edit.old < s.end;
            let which = self.strings.iter().position(inside)?;
            if which != self.text && !is_plain(&frame.bytes[edit.at..edit.at + edit.new]) {
                return None;
            }
            let moved = |at: usize| at + edit.new - edit.old;
            self.strings[which].end = moved(self.strings[which].end);
            for behind in &mut self.strings[which + 1..] {
                *behind = moved(behind.start)..moved(behind.end);
            }
        }
        let text = string(frame.bytes.get(self.strings[self.text].clone())?)?;
        let mut facts = Facts::default();
        *(if self.is_reasoning { &mut facts.reasoning } else { &mut facts.text }) = text;
        Some(facts)
    }
}

/// Bytes that mean themselves in a JSON string, whatever stands beside them.
fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().all(|&b| (b' '..0x7f).contains(&b) && b != b'"' && b != b'\\')
}

/// The text of a JSON string that is not empty.
fn string(json: &[u8]) -> Option<String> {
    let inside = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let text =
        if is_plain(inside) { str::from_utf8(inside).ok()?.to_owned() } else { serde_json::from_slice(json).ok()? };
    Some(text).filter(|t: &String| !t.is_empty())
}
