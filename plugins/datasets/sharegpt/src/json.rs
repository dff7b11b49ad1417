//! A reader of JSON that takes and refuses what CPython's `json` does: half a surrogate pair is taken, `NaN` is taken,
//! of members with the same key the last one counts. It hands out spans and builds nothing, because most of a record is
//! only stepped over.

use std::borrow::Cow;

/// How deeply values may be nested. CPython gives up near a thousand as well.
const DEPTH: u32 = 900;

/// Where and why a text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Byte offset in the text.
    pub(crate) at: usize,
}

/// What kind of value comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    Text,
    Other,
}

/// A string as it stands between its quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    raw: &'a str,
    escaped: bool,
}

/// Steps through one JSON text.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

type Result<T> = std::result::Result<T, Malformed>;

impl<'a> Reader<'a> {
    /// Fails where `bytes` are no UTF-8.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Reader<'a>> {
        let text = std::str::from_utf8(bytes).map_err(|e| Malformed { at: e.valid_up_to() })?;
        Ok(Reader { text, at: 0, depth: 0 })
    }

    /// Kind of the next value, from its first byte.
    pub(crate) fn kind(&mut self) -> Kind {
        match self.peek() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::Text,
            _ => Kind::Other,
        }
    }

    /// Calls `member` with each key in order; it has to read exactly the value.
    pub(crate) fn object(&mut self, mut member: impl FnMut(Text<'a>, &mut Self) -> Result<()>) -> Result<()> {
        self.enter(b'{')?;
        if self.peek() == Some(b'}') {
            return self.leave();
        }
        loop {
            self.peek();
            let key = self.text()?;
            self.expect(b':')?;
            member(key, self)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => return self.leave(),
                _ => return self.fail(),
            }
        }
    }

    /// Calls `element` before each element; it has to read exactly that.
    pub(crate) fn array(&mut self, mut element: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.enter(b'[')?;
        if self.peek() == Some(b']') {
            return self.leave();
        }
        loop {
            element(self)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => return self.leave(),
                _ => return self.fail(),
            }
        }
    }

    /// Reads a string.
    pub(crate) fn text(&mut self) -> Result<Text<'a>> {
        self.expect(b'"')?;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at = plain_until(self.text.as_bytes(), self.at);
            match self.byte() {
                Some(b'"') => break,
                Some(b'\\') => escaped = true,
                _ => return self.fail(),
            }
            self.escape()?;
        }
        let raw = self.text.get(start..self.at).ok_or(Malformed { at: start })?;
        self.at += 1;
        Ok(Text { raw, escaped })
    }

    /// Steps over a value of any kind.
    pub(crate) fn skip(&mut self) -> Result<()> {
        match self.peek() {
            Some(b'"') => self.text().map(drop),
            Some(b'{') => self.object(|_, value| value.skip()),
            Some(b'[') => self.array(Self::skip),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(&["true", "false", "null", "NaN", "Infinity"]),
        }
    }

    /// Nothing but white space may be left.
    pub(crate) fn finish(&mut self) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { self.fail() }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    fn fail<T>(&self) -> Result<T> {
        Err(Malformed { at: self.at })
    }

    fn expect(&mut self, wanted: u8) -> Result<()> {
        if self.peek() != Some(wanted) {
            return self.fail();
        }
        self.at += 1;
        Ok(())
    }

    fn enter(&mut self, bracket: u8) -> Result<()> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.fail();
        }
        self.expect(bracket)
    }

    fn leave(&mut self) -> Result<()> {
        self.depth -= 1;
        self.at += 1;
        Ok(())
    }

    /// Steps over an escape, its backslash next.
    fn escape(&mut self) -> Result<()> {
        let rest = self.text.as_bytes().get(self.at + 1..).unwrap_or_default();
        let length = match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|x| x.is_ascii_hexdigit()) => 6,
            _ => return self.fail(),
        };
        self.at += length;
        Ok(())
    }

    fn number(&mut self) -> Result<()> {
        if self.byte() == Some(b'-') {
            self.at += 1;
            if self.byte() == Some(b'I') {
                return self.word(&["Infinity"]);
            }
        }
        match self.byte() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.fail(),
        }
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if let [b'.', b'0'..=b'9', ..] = rest {
            self.at += 1;
            self.digits();
        }
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        match rest {
            [b'e' | b'E', b'0'..=b'9', ..] => self.at += 1,
            [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..] => self.at += 2,
            _ => return Ok(()),
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
    }

    fn word(&mut self, words: &[&str]) -> Result<()> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        match words.iter().find(|w| rest.starts_with(**w)) {
            Some(word) => self.at += word.len(),
            None => return self.fail(),
        }
        Ok(())
    }
}

impl<'a> Text<'a> {
    /// Whether it says `other`.
    pub(crate) fn is(&self, other: &str) -> bool {
        if self.escaped {
            self.code_points().iter().copied().eq(other.chars().map(u32::from))
        } else {
            self.raw == other
        }
    }

    /// What it says; `None` where half a surrogate pair is in it, which no Rust string and no UTF-8 can hold.
    pub(crate) fn decode(&self) -> Option<Cow<'a, str>> {
        if !self.escaped {
            return Some(Cow::Borrowed(self.raw));
        }
        let mut text = String::with_capacity(self.raw.len());
        let mut rest = self.raw;
        while let Some(at) = rest.find('\\') {
            let (plain, escape) = rest.split_at(at);
            text.push_str(plain);
            let (code, length) = unescape(escape);
            text.push(char::from_u32(code)?);
            rest = escape.get(length..).unwrap_or_default();
        }
        text.push_str(rest);
        Some(Cow::Owned(text))
    }

    /// The code points that Python sees, halves of surrogate pairs among them.
    pub(crate) fn code_points(&self) -> Vec<u32> {
        let mut points = Vec::new();
        let mut rest = self.raw;
        while let Some(first) = rest.chars().next() {
            let (code, length) = if first == '\\' { unescape(rest) } else { (first.into(), first.len_utf8()) };
            points.push(code);
            rest = rest.get(length..).unwrap_or_default();
        }
        points
    }
}

/// Code point and length of the escape that `text` starts with. `Reader::text` has checked its form. Two halves that
/// belong together are one escape.
fn unescape(text: &str) -> (u32, usize) {
    let code = match text.as_bytes().get(1) {
        Some(b'b') => 0x08,
        Some(b'f') => 0x0c,
        Some(b'n') => 0x0a,
        Some(b'r') => 0x0d,
        Some(b't') => 0x09,
        Some(b'u') => return unescape_unicode(text),
        other => other.copied().unwrap_or_default().into(),
    };
    (code, 2)
}

fn unescape_unicode(text: &str) -> (u32, usize) {
    let hex = |at: usize| text.get(at..at + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let first = hex(2).unwrap_or_default();
    let second = if text.get(6..8) == Some("\\u") { hex(8) } else { None };
    match (first, second) {
        (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => (0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00), 12),
        _ => (first, 6),
    }
}

/// The first place from `start` on that holds a quote, a backslash or a control character, eight bytes at a time.
fn plain_until(bytes: &[u8], start: usize) -> usize {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let mut at = start;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        // The lowest flagged byte is exact; borrows spoil only higher ones.
        let below_blank = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        let zero = |x: u64| x.wrapping_sub(ONES) & !x;
        let found = (below_blank | zero(quote) | zero(backslash)) & HIGHS;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at) {
        if matches!(byte, b'"' | b'\\' | 0..=0x1f) {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
