//! One record a line.

use super::split::Found;
use super::window::Window;
use crate::granted::Malformed;

/// Splits at line feeds; a carriage return before one belongs to the line's end; empty lines are skipped,
/// and so is a byte order mark at the start.
#[derive(Debug, Default)]
pub(crate) struct Lines;

impl Lines {
    /// The next line lies between the window's mark and `Found`'s length.
    pub(crate) fn next(&mut self, window: &mut Window, longest: usize) -> Result<Option<Found>, Malformed> {
        loop {
            let start = window.offset();
            window.mark();
            let ended = loop {
                let rest = window.rest()?;
                if rest.is_empty() {
                    break false;
                }
                let (n, ended) = memchr::memchr(b'\n', rest).map_or((rest.len(), false), |i| (i + 1, true));
                window.advance(n);
                if ended {
                    break true;
                }
                super::split::check_length(window, start, longest)?;
            };
            let mut line = window.marked();
            if line.is_empty() {
                return Ok(None);
            }
            if ended {
                line = &line[..line.len() - 1];
                line = line.strip_suffix(b"\r").unwrap_or(line);
            }
            let length = line.len();
            if length > 0 {
                super::split::check_length(window, start, longest)?;
                return Ok(Some(Found { start, length }));
            }
        }
    }
}
