//! Writing JSON objects field by field, in the order asked for.

/// A JSON object that is being written. Fields of the request's `extra` take the place of ours.
pub(super) struct Body<'a> {
    text: String,
    extra: &'a [(String, String)],
}

impl<'a> Body<'a> {
    pub(super) fn new(extra: &'a [(String, String)]) -> Body<'a> {
        Body { text: String::with_capacity(256), extra }
    }

    /// A field whose value is JSON text already.
    pub(super) fn raw(&mut self, name: &str, json: &str) {
        if self.extra.iter().all(|(extra, _)| extra != name) {
            self.push(name, json);
        }
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.raw(name, &quoted(value));
    }

    pub(super) fn number(&mut self, name: &str, value: impl ToString) {
        self.raw(name, &value.to_string());
    }

    /// Shortest decimal that gives this `f32` again; the body of 0.7 must not say 0.699999988.
    pub(super) fn float(&mut self, name: &str, value: f32) {
        self.raw(name, &format!("{value:?}"));
    }

    fn push(&mut self, name: &str, json: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        self.text.push_str(&quoted(name));
        self.text.push(':');
        self.text.push_str(json);
    }

    /// The whole object, the extra fields last.
    pub(super) fn finish(mut self) -> Vec<u8> {
        for (name, json) in self.extra {
            self.push(name, json);
        }
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        self.text.into_bytes()
    }
}

/// A JSON string (RFC 8259, section 7).
pub(super) fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + text.len() / 16 + 2);
    json.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\') {
        let (plain, special) = rest.split_at(at);
        json.push_str(plain);
        // All that is looked for is one byte long.
        match special.as_bytes()[0] {
            b'"' => json.push_str("\\\""),
            b'\\' => json.push_str("\\\\"),
            b'\n' => json.push_str("\\n"),
            b'\r' => json.push_str("\\r"),
            b'\t' => json.push_str("\\t"),
            control => {
                let digit = |n: u8| char::from(b"0123456789abcdef"[usize::from(n)]);
                json.push_str("\\u00");
                json.push(digit(control >> 4));
                json.push(digit(control & 15));
            }
        }
        rest = &special[1..];
    }
    json.push_str(rest);
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_read_back() {
        let controls: String = (0..0x30u8).map(char::from).collect();
        for text in ["", "plain", "Grüße 你好 😀", "\"quoted\" back\\slash", &controls, "end\n", "\u{7f}\u{2028}"]
        {
            let back: String = serde_json::from_str(&quoted(text)).unwrap();
            assert_eq!(back, text);
        }
        assert_eq!(quoted("a\t\u{1}\"\n"), r#""a\t\u0001\"\n""#);
    }

    #[test]
    fn extra_fields_take_the_place_of_ours() {
        let extra = [("b".to_owned(), "[1]".to_owned())];
        let mut body = Body::new(&extra);
        body.text("a", "x");
        body.number("b", 7);
        body.float("t", 0.7);
        assert_eq!(String::from_utf8(body.finish()).unwrap(), r#"{"a":"x","t":0.7,"b":[1]}"#);
        assert_eq!(Body::new(&[]).finish(), b"{}");
    }

    #[test]
    fn floats_are_json() {
        for value in [0.0, 0.7, 1.0, 1e-10, f32::MAX] {
            let mut body = Body::new(&[]);
            body.float("t", value);
            let json: serde_json::Value = serde_json::from_slice(&body.finish()).unwrap();
            assert_eq!(json["t"].as_f64().map(|t| t as f32), Some(value));
        }
    }
}
