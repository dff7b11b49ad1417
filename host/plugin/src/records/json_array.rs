//! One record an element of a top-level JSON array.
//!
//! Looks at brackets, strings and commas only (RFC 8259): whether an element is valid JSON is for whoever
//! reads it.

use super::split::{Found, check_length};
use super::window::Window;
use crate::granted::Malformed;

/// Deepest nesting inside an element.
const DEEPEST: usize = 1000;

/// Where in the array the next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before `[`.
    #[default]
    Before,
    /// After `[`.
    First,
    /// After an element.
    Between,
    /// After `]` and nothing but white space.
    End,
}

/// Splits the array.
#[derive(Debug, Default)]
pub(crate) struct JsonArray {
    place: Place,
    /// Offset of `[`.
    opened: u64,
    /// Closing brackets that are due, innermost last; kept for its storage.
    due: Vec<u8>,
}

impl JsonArray {
    /// The next element lies between the window's mark and `Found`'s length.
    pub(crate) fn next(&mut self, window: &mut Window, longest: usize) -> Result<Option<Found>, Malformed> {
        if self.place == Place::Before {
            match white_space(window)? {
                Some(b'[') => {
                    self.opened = window.offset();
                    window.advance(1);
                    self.place = Place::First;
                }
                Some(b) => {
                    return window.error(window.offset(), format!("an array is expected here, not {}", shown(b)));
                }
                None => {
                    return window.error(window.offset(), "an array is expected, but the file ends here".to_owned());
                }
            }
        }
        if self.place == Place::End {
            return Ok(None);
        }
        let after_element = self.place == Place::Between;
        let next = white_space(window)?;
        match next {
            Some(b']') => {
                window.advance(1);
                self.place = Place::End;
                return match white_space(window)? {
                    None => Ok(None),
                    Some(b) => window.error(
                        window.offset(),
                        format!("nothing is expected after the array's end, but here is {}", shown(b)),
                    ),
                };
            }
            Some(b',') if after_element => {
                window.advance(1);
                match white_space(window)? {
                    None => return self.cut_off(window, None),
                    Some(b @ (b',' | b']')) => {
                        let message = format!("an element is expected after the comma, not {}", shown(b));
                        return window.error(window.offset(), message);
                    }
                    Some(_) => {}
                }
            }
            Some(b) if after_element => {
                let message = format!("`,` or `]` is expected after an element, not {}", shown(b));
                return window.error(window.offset(), message);
            }
            Some(b',') => {
                return window.error(window.offset(), "an element is expected after `[`, not `,`".to_owned());
            }
            Some(_) => {}
            None => return self.cut_off(window, None),
        }
        self.element(window, longest).map(Some)
    }

    fn element(&mut self, window: &mut Window, longest: usize) -> Result<Found, Malformed> {
        let start = window.offset();
        window.mark();
        self.due.clear();
        match window.rest()?.first() {
            Some(b'"') => self.string(window, start, longest)?,
            Some(b'{' | b'[') => self.nested(window, start, longest)?,
            _ => self.scalar(window, start, longest)?,
        }
        check_length(window, start, longest)?;
        self.place = Place::Between;
        Ok(Found { start, length: window.marked().len() })
    }

    /// From an opening bracket to the one that closes it.
    fn nested(&mut self, window: &mut Window, start: u64, longest: usize) -> Result<(), Malformed> {
        loop {
            let rest = window.rest()?;
            if rest.is_empty() {
                return self.cut_off(window, Some((start, "")));
            }
            // Between two brackets or strings there is little: a plain loop finds the next one fastest.
            let skipped = rest.iter().position(|b| matches!(b, b'"' | b'{' | b'}' | b'[' | b']')).unwrap_or(rest.len());
            let found = rest.get(skipped).copied();
            window.advance(skipped);
            match found {
                None => check_length(window, start, longest)?,
                Some(b'"') => self.string(window, start, longest)?,
                Some(open @ (b'{' | b'[')) => {
                    if self.due.len() == DEEPEST {
                        let message = format!("nesting is deeper than {DEEPEST} brackets here");
                        return window.error(window.offset(), message);
                    }
                    self.due.push(if open == b'{' { b'}' } else { b']' });
                    window.advance(1);
                }
                Some(close) => {
                    if self.due.pop() != Some(close) {
                        let message = format!(
                            "{} closes a bracket that is not open, in the record that starts at byte {start}",
                            shown(close)
                        );
                        return window.error(window.offset(), message);
                    }
                    window.advance(1);
                    if self.due.is_empty() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// From an opening quotation mark to behind the closing one.
    fn string(&self, window: &mut Window, start: u64, longest: usize) -> Result<(), Malformed> {
        window.advance(1);
        let mut escaped = false;
        loop {
            let rest = window.rest()?;
            if rest.is_empty() {
                return self.cut_off(window, Some((start, "a string of ")));
            }
            if escaped {
                escaped = false;
                window.advance(1);
                continue;
            }
            match memchr::memchr2(b'"', b'\\', rest) {
                Some(i) => {
                    let quote = rest[i] == b'"';
                    window.advance(i + 1);
                    if quote {
                        return Ok(());
                    }
                    escaped = true;
                }
                None => {
                    let n = rest.len();
                    window.advance(n);
                    check_length(window, start, longest)?;
                }
            }
        }
    }

    /// A number, `true`, or whatever else stands there: up to white space, a comma or the array's end.
    fn scalar(&self, window: &mut Window, start: u64, longest: usize) -> Result<(), Malformed> {
        loop {
            let rest = window.rest()?;
            if rest.is_empty() {
                return self.cut_off(window, Some((start, "")));
            }
            let end = rest
                .iter()
                .position(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | b',' | b']' | b'}' | b'"' | b'{' | b'['));
            let (n, ended) = end.map_or((rest.len(), false), |i| (i, true));
            window.advance(n);
            if ended {
                return if window.marked().is_empty() {
                    window.error(start, "an element is expected here, not `}`".to_owned())
                } else {
                    Ok(())
                };
            }
            check_length(window, start, longest)?;
        }
    }

    fn cut_off<T>(&self, window: &Window, record: Option<(u64, &str)>) -> Result<T, Malformed> {
        let end = window.offset();
        let opened = self.opened;
        let message = match record {
            Some((start, inside)) => format!(
                "the file is cut off: it ends at byte {end}, inside {inside}the record that starts at byte {start}, of the \
                 array that starts at byte {opened}"
            ),
            None => {
                format!("the file is cut off: it ends at byte {end}, inside the array that starts at byte {opened}")
            }
        };
        window.error(end, message)
    }
}

/// The next byte that is no white space, without moving past it.
fn white_space(window: &mut Window) -> Result<Option<u8>, Malformed> {
    loop {
        let rest = window.rest()?;
        if rest.is_empty() {
            return Ok(None);
        }
        let n = rest.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\r' | b'\n'));
        let found = n.map(|n| rest[n]);
        let skipped = n.unwrap_or(rest.len());
        window.advance(skipped);
        // Nothing before here is needed: the window stays small over long stretches of white space.
        window.mark();
        if found.is_some() {
            return Ok(found);
        }
    }
}

fn shown(b: u8) -> String {
    if b.is_ascii_graphic() { format!("`{}`", b as char) } else { format!("byte 0x{b:02x}") }
}
