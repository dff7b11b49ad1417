//! Reading the values of settings.

use crate::types::{Setting, SettingValue, Value};

/// The validated settings of a call, by key.
///
/// The host has checked every value against the adapter's own [`Setting`]s and filled the defaults in,
/// so that an absent value means a setting without default that the user left out.
///
/// ```
/// use bench_sdk::Settings;
/// let settings = Settings::default().with("max-num-seqs", 256).with("enforce-eager", true);
/// assert_eq!(settings.integer("max-num-seqs"), Some(256));
/// assert!(settings.flag("enforce-eager") && !settings.flag("disable-log-stats"));
/// assert_eq!(settings.text("dtype"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(Vec<SettingValue>);

impl Settings {
    /// The defaults of these settings: what an adapter gets when the user writes nothing.
    pub fn defaults(settings: &[Setting]) -> Settings {
        let values = settings.iter().filter_map(|s| {
            s.default.as_ref().map(|default| SettingValue { key: s.key.clone(), value: default.clone() })
        });
        Settings(values.collect())
    }

    /// With this value, in place of the one that was there.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Settings {
        self.0.retain(|s| s.key != key);
        self.0.push(SettingValue { key: key.to_owned(), value: value.into() });
        self
    }

    /// The value as it is.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|s| s.key == key).map(|s| &s.value)
    }

    /// A boolean.
    pub fn boolean(&self, key: &str) -> Option<bool> {
        match self.get(key)? {
            Value::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// A boolean that counts as `false` where it is absent.
    pub fn flag(&self, key: &str) -> bool {
        self.boolean(key) == Some(true)
    }

    /// An integer, a duration in milliseconds or a size in bytes.
    pub fn integer(&self, key: &str) -> Option<i64> {
        match self.get(key)? {
            Value::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// An integer that is not negative.
    pub fn unsigned(&self, key: &str) -> Option<u64> {
        self.integer(key).and_then(|value| u64::try_from(value).ok())
    }

    /// A number; an integer counts as one.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            Value::Number(value) => Some(*value),
            Value::Integer(value) => Some(*value as f64),
            _ => None,
        }
    }

    /// A text or a choice.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Value::Text(value) => Some(value),
            _ => None,
        }
    }

    /// A list of texts; empty where it is absent.
    pub fn text_list(&self, key: &str) -> &[String] {
        match self.get(key) {
            Some(Value::TextList(value)) => value,
            _ => &[],
        }
    }

    /// A map of texts; empty where it is absent.
    pub fn text_map(&self, key: &str) -> &[(String, String)] {
        match self.get(key) {
            Some(Value::TextMap(value)) => value,
            _ => &[],
        }
    }

    /// All of them, in the host's order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|s| (s.key.as_str(), &s.value))
    }
}

impl From<Vec<SettingValue>> for Settings {
    fn from(values: Vec<SettingValue>) -> Settings {
        Settings(values)
    }
}
