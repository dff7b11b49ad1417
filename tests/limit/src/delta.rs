//! The least that tells a chat chunk's content and end: two searches, no JSON.

use memchr::{memchr2, memmem};

const CONTENT: &[u8] = b"\"content\":\"";

/// Finds the content of a delta, and whether the chunk is the last one.
#[derive(Clone, Debug)]
pub struct DeltaScan {
    content: memmem::Finder<'static>,
    finish: memmem::Finder<'static>,
}

impl Default for DeltaScan {
    fn default() -> DeltaScan {
        DeltaScan { content: memmem::Finder::new(CONTENT), finish: memmem::Finder::new(b"\"finish_reason\":\"") }
    }
}

impl DeltaScan {
    /// The content as it is written (escapes and all), and whether there is a finish reason.
    #[inline]
    pub fn scan<'a>(&self, chunk: &'a [u8]) -> (&'a [u8], bool) {
        let Some(found) = self.content.find(chunk) else {
            return (b"", self.finish.find(chunk).is_some());
        };
        let text = &chunk[found + CONTENT.len()..];
        let mut end = 0;
        while let Some(n) = memchr2(b'"', b'\\', text.get(end..).unwrap_or_default()) {
            end += n;
            if text[end] == b'"' {
                break;
            }
            end += 2;
        }
        let (content, rest) = text.split_at(end.min(text.len()));
        (content, self.finish.find(rest).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_and_end() {
        let scan = DeltaScan::default();
        let chunk = |content: &str, finish: &str| {
            format!(r#"{{"choices":[{{"delta":{{"content":"{content}"}},"finish_reason":{finish}}}]}}"#)
        };
        for (content, finish, last) in [
            (" the", "null", false),
            (r#" \"quoted\""#, "null", false),
            (r"\\", r#""length""#, true),
            ("", r#""stop""#, true),
            (r#"\"finish_reason\":\"stop\""#, "null", false),
        ] {
            assert_eq!(scan.scan(chunk(content, finish).as_bytes()), (content.as_bytes(), last), "{content}");
        }
        assert_eq!(scan.scan(br#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#), (&b""[..], true));
        assert_eq!(scan.scan(br#"{"content":"\"#), (&br"\"[..], false));
    }
}
