//! Writing JSON objects field by field, in the order asked for.

use serde_json::Value;

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

/// A JSON string.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
