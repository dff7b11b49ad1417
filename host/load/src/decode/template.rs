//! Frames that differ from the one before in nothing but the text they carry, which are nearly all of them:
//! their JSON need not be parsed again.

use super::plan::Facts;
use crate::stream::Frame;

/// A frame with one text and nothing else that a plan takes.
///
/// A frame with the same bytes before and after the text, and a valid JSON string between, is parsed to the
/// same facts with that string as the text: one token of the JSON was put in the place of another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Template {
    /// Bytes before the text's opening quote.
    before: usize,
    /// Bytes after its closing quote.
    after: usize,
    /// Size of the frame before.
    size: usize,
    is_reasoning: bool,
}

impl Template {
    /// Of a frame and what it said, where only the text can change.
    pub(super) fn of(frame: &[u8], facts: &Facts) -> Option<Template> {
        let [Some(at)] = &facts.texts[..] else { return None };
        let more = facts.tool
            || facts.tokens.is_some()
            || facts.finish.is_some()
            || facts.usage.is_some()
            || facts.error.is_some();
        // Not where invalid UTF-8 was replaced: the places are those of other bytes.
        let in_frame = frame.get(at.start) == Some(&b'"') && frame.get(at.end - 1) == Some(&b'"');
        (!more && in_frame && std::str::from_utf8(frame).is_ok()).then_some(Template {
            before: at.start,
            after: frame.len() - at.end,
            size: frame.len(),
            is_reasoning: facts.text.is_empty(),
        })
    }

    /// What a frame says, where it is of this form.
    pub(super) fn text(&mut self, frame: &Frame<'_>) -> Option<Facts> {
        let size = frame.bytes.len();
        let is_same = frame.same_start == size && size == self.size;
        if !is_same && (frame.same_start < self.before || frame.same_end < self.after) {
            return None;
        }
        let text = string(frame.bytes.get(self.before..size.checked_sub(self.after)?)?)?;
        self.size = size;
        let mut facts = Facts::default();
        *(if self.is_reasoning { &mut facts.reasoning } else { &mut facts.text }) = text;
        Some(facts)
    }
}

/// The text of a JSON string that is not empty.
fn string(json: &[u8]) -> Option<String> {
    let inside = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let is_plain = inside.iter().all(|&b| b >= b' ' && b != b'"' && b != b'\\');
    let text = if is_plain { str::from_utf8(inside).ok()?.to_owned() } else { serde_json::from_slice(json).ok()? };
    Some(text).filter(|t: &String| !t.is_empty())
}
