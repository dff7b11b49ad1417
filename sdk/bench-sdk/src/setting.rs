//! Describing settings.
//!
//! ```
//! use bench_sdk::Setting;
//! let settings = [
//!     Setting::integer("max-num-seqs").min(1).doc("Most sequences in a batch.").engine_option("--max-num-seqs"),
//!     Setting::choice("dtype", &[("auto", "As the model says."), ("float16", "Half precision.")]).default("auto"),
//!     Setting::duration("ttft").default(50).doc("Time to the first token."),
//! ];
//! assert_eq!(settings[0].key, "max-num-seqs");
//! ```

use crate::types::{ChoiceItem, IntegerRange, NumberRange, Setting, SettingKind, Value};

impl Setting {
    fn new(key: &str, kind: SettingKind) -> Setting {
        Setting {
            key: key.to_owned(),
            doc: String::new(),
            kind,
            default: None,
            required: false,
            engine_option: None,
            deprecated: None,
        }
    }

    /// `true` or `false`.
    pub fn boolean(key: &str) -> Setting {
        Setting::new(key, SettingKind::Boolean)
    }

    /// A whole number; bound it with [`Setting::min`] and [`Setting::max`].
    pub fn integer(key: &str) -> Setting {
        Setting::new(key, SettingKind::Integer(IntegerRange { min: None, max: None }))
    }

    /// A number; bound it with [`Setting::between`].
    pub fn number(key: &str) -> Setting {
        Setting::new(key, SettingKind::Number(NumberRange { min: None, max: None }))
    }

    /// Any text.
    pub fn text(key: &str) -> Setting {
        Setting::new(key, SettingKind::Text)
    }

    /// One of these names, each with its documentation.
    pub fn choice(key: &str, items: &[(&str, &str)]) -> Setting {
        let items = items.iter().map(|&(name, doc)| ChoiceItem { name: name.to_owned(), doc: doc.to_owned() });
        Setting::new(key, SettingKind::Choice(items.collect()))
    }

    /// Zero or more texts, order kept.
    pub fn text_list(key: &str) -> Setting {
        Setting::new(key, SettingKind::TextList)
    }

    /// Key = text pairs.
    pub fn text_map(key: &str) -> Setting {
        Setting::new(key, SettingKind::TextMap)
    }

    /// A length of time, written `"1.5s"`; milliseconds in its value and default.
    pub fn duration(key: &str) -> Setting {
        Setting::new(key, SettingKind::Duration)
    }

    /// A number of bytes, written `"16GiB"`.
    pub fn size(key: &str) -> Setting {
        Setting::new(key, SettingKind::Size)
    }

    /// A file that the user grants by its path; the adapter gets it as the source of this key.
    pub fn source(key: &str) -> Setting {
        Setting::new(key, SettingKind::Source)
    }

    /// Least value of an integer.
    #[must_use]
    pub fn min(mut self, min: i64) -> Setting {
        if let SettingKind::Integer(range) = &mut self.kind {
            range.min = Some(min);
        }
        self
    }

    /// Greatest value of an integer.
    #[must_use]
    pub fn max(mut self, max: i64) -> Setting {
        if let SettingKind::Integer(range) = &mut self.kind {
            range.max = Some(max);
        }
        self
    }

    /// Least and greatest value of a number.
    #[must_use]
    pub fn between(mut self, min: f64, max: f64) -> Setting {
        if let SettingKind::Number(range) = &mut self.kind {
            *range = NumberRange { min: Some(min), max: Some(max) };
        }
        self
    }

    /// Documentation in CommonMark; the first sentence is the summary.
    #[must_use]
    pub fn doc(mut self, doc: &str) -> Setting {
        doc.clone_into(&mut self.doc);
        self
    }

    /// Used when the user gives none.
    #[must_use]
    pub fn default(mut self, value: impl Into<Value>) -> Setting {
        self.default = Some(value.into());
        self
    }

    /// The user has to give it.
    #[must_use]
    pub fn required(mut self) -> Setting {
        self.required = true;
        self
    }

    /// The engine's option that it turns into, for documentation and search.
    #[must_use]
    pub fn engine_option(mut self, option: &str) -> Setting {
        self.engine_option = Some(option.to_owned());
        self
    }

    /// It is going away; say what to use instead.
    #[must_use]
    pub fn deprecated(mut self, instead: &str) -> Setting {
        self.deprecated = Some(instead.to_owned());
        self
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Boolean(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Integer(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Number(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.to_owned())
    }
}

impl From<Vec<String>> for Value {
    fn from(value: Vec<String>) -> Value {
        Value::TextList(value)
    }
}
