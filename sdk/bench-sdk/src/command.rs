//! Engine options that become command-line arguments.
//!
//! A table of [`CommandOption`]s is the one place where an adapter says what an option is called, what
//! it takes, and how the engine spells it; the manifest's settings and the arguments both come from it.
//! A setting has the name of its option, in kebab-case.
//!
//! ```
//! use bench_sdk::Settings;
//! use bench_sdk::command::{CommandOption, args};
//! let options = [
//!     CommandOption::integer("--tensor-parallel-size", "Devices.").min(1).spelled("-tp").omit(1),
//!     CommandOption::integer("--max_seq_len", "Longest sequence.").joined(),
//!     CommandOption::toggle("--async-scheduling", "Plan ahead."),
//! ];
//! let settings = Settings::default()
//!     .with("tensor-parallel-size", 1)
//!     .with("max-seq-len", 4096)
//!     .with("async-scheduling", false);
//! assert_eq!(args(&options, &settings), ["--max_seq_len=4096", "--no-async-scheduling"]);
//! ```

use crate::Settings;
use crate::types::{Setting, SettingKind, Value};

/// A setting and how the engine spells it.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandOption {
    setting: Setting,
    flag: String,
    form: Form,
    omitted: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Separate,
    Joined,
    Switch,
    Toggle,
    Repeated,
}

impl CommandOption {
    fn new(option: &str, doc: &str, form: Form, setting: impl Fn(&str) -> Setting) -> CommandOption {
        let key = option.trim_start_matches('-').replace('_', "-");
        CommandOption {
            setting: setting(&key).doc(doc).engine_option(option),
            flag: option.to_owned(),
            form,
            omitted: None,
        }
    }

    /// `--option 1`. Like all but switches and toggles it is written `--option=1` with
    /// [`CommandOption::joined`].
    pub fn integer(option: &str, doc: &str) -> CommandOption {
        CommandOption::new(option, doc, Form::Separate, Setting::integer)
    }

    /// `--option 0.9`.
    pub fn number(option: &str, doc: &str) -> CommandOption {
        CommandOption::new(option, doc, Form::Separate, Setting::number)
    }

    /// `--option text`.
    pub fn text(option: &str, doc: &str) -> CommandOption {
        CommandOption::new(option, doc, Form::Separate, Setting::text)
    }

    /// `--option word`, one of these words, each with its documentation.
    pub fn choice(option: &str, words: &[(&str, &str)], doc: &str) -> CommandOption {
        CommandOption::new(option, doc, Form::Separate, |key| Setting::choice(key, words))
    }

    /// `--option 50ms`.
    pub fn duration(option: &str, doc: &str) -> CommandOption {
        CommandOption::new(option, doc, Form::Separate, Setting::duration)
    }

    /// `--option 1073741824`, bytes.
    pub fn size(option: &str, doc: &str) -> CommandOption {
        CommandOption::new(option, doc, Form::Separate, Setting::size)
    }

    /// `--option a b c`; `--option a --option b` with [`CommandOption::repeated`].
    pub fn list(option: &str, doc: &str) -> CommandOption {
        CommandOption::new(option, doc, Form::Separate, Setting::text_list)
    }

    /// `--option` where the setting is true, nothing where it is false.
    pub fn switch(option: &str, doc: &str) -> CommandOption {
        CommandOption::new(option, doc, Form::Switch, Setting::boolean)
    }

    /// `--option` where the setting is true, `--no-option` where it is false.
    pub fn toggle(option: &str, doc: &str) -> CommandOption {
        CommandOption::new(option, doc, Form::Toggle, Setting::boolean)
    }

    /// Least value of an integer.
    #[must_use]
    pub fn min(mut self, min: i64) -> CommandOption {
        self.setting = self.setting.min(min);
        self
    }

    /// Greatest value of an integer.
    #[must_use]
    pub fn max(mut self, max: i64) -> CommandOption {
        self.setting = self.setting.max(max);
        self
    }

    /// Least and greatest value of a number.
    #[must_use]
    pub fn between(mut self, min: f64, max: f64) -> CommandOption {
        self.setting = self.setting.between(min, max);
        self
    }

    /// Written where the user gives no value; for what the engine leaves off by itself.
    #[must_use]
    pub fn default(mut self, value: impl Into<Value>) -> CommandOption {
        self.setting = self.setting.default(value);
        self
    }

    /// The engine's own default: with this value the command is the same without the option.
    #[must_use]
    pub fn omit(mut self, default: impl Into<Value>) -> CommandOption {
        self.omitted = Some(default.into());
        self
    }

    /// Another spelling of the same option, the one that people write: `-tp`.
    #[must_use]
    pub fn spelled(mut self, flag: &str) -> CommandOption {
        flag.clone_into(&mut self.flag);
        self
    }

    /// Written `--option=value`. Nothing changes for switches and toggles: they have no value.
    #[must_use]
    pub fn joined(mut self) -> CommandOption {
        if matches!(self.form, Form::Separate) {
            self.form = Form::Joined;
        }
        self
    }

    /// A list written with the option before each of its items.
    #[must_use]
    pub fn repeated(mut self) -> CommandOption {
        self.form = Form::Repeated;
        self
    }

    /// The setting.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    fn push(&self, value: &Value, args: &mut Vec<String>) {
        if self.omitted.as_ref() == Some(value) {
            return;
        }
        let flag = self.flag.clone();
        match (self.form, value) {
            (Form::Switch | Form::Toggle, Value::Boolean(true)) => args.push(flag),
            (Form::Toggle, _) => args.push(format!("--no-{}", flag.trim_start_matches('-'))),
            (Form::Switch, _) => {}
            (Form::Repeated, Value::TextList(items)) => {
                args.extend(items.iter().flat_map(|item| [flag.clone(), item.clone()]));
            }
            (_, Value::TextList(items)) if items.is_empty() => {}
            (Form::Separate, Value::TextList(items)) => {
                args.push(flag);
                args.extend(items.iter().cloned());
            }
            (Form::Joined, _) => args.push(format!("{flag}={}", self.show(value))),
            (Form::Separate | Form::Repeated, _) => args.extend([flag, self.show(value)]),
        }
    }

    fn show(&self, value: &Value) -> String {
        match value {
            Value::Boolean(value) => value.to_string(),
            Value::Integer(ms) if matches!(self.setting.kind, SettingKind::Duration) => format!("{ms}ms"),
            Value::Integer(value) => value.to_string(),
            Value::Number(value) => value.to_string(),
            Value::Text(value) => value.clone(),
            Value::TextList(items) => items.join(","),
            Value::TextMap(pairs) => pairs.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(","),
        }
    }
}

/// The settings of these options, for the manifest.
pub fn settings(options: &[CommandOption]) -> Vec<Setting> {
    options.iter().map(|option| option.setting.clone()).collect()
}

/// The arguments that these settings make, in the order of the options.
pub fn args(options: &[CommandOption], settings: &Settings) -> Vec<String> {
    let mut args = Vec::new();
    for option in options {
        if let Some(value) = settings.get(&option.setting.key) {
            option.push(value, &mut args);
        }
    }
    args
}
