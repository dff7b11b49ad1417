//! Engine options that become command-line arguments.
//!
//! A table of [`CommandOption`]s is the one place where an adapter says what a setting is called, what
//! it takes, and how the engine spells it; the manifest's settings and the arguments both come from it.
//!
//! ```
//! use bench_sdk::command::{CommandOption, args};
//! use bench_sdk::{Setting, Settings};
//! let options = [
//!     CommandOption::value("-tp", Setting::integer("tensor-parallel-size").min(1)).omit(1),
//!     CommandOption::joined("--max_seq_len", Setting::integer("max-seq-len")),
//!     CommandOption::toggle("--async-scheduling", "--no-async-scheduling", Setting::boolean("async-scheduling")),
//! ];
//! let settings = Settings::default().with("tensor-parallel-size", 1).with("max-seq-len", 4096).with("async-scheduling", false);
//! assert_eq!(args(&options, &settings), ["--max_seq_len=4096", "--no-async-scheduling"]);
//! ```

use crate::Settings;
use crate::types::{Setting, SettingKind, Value};

/// A setting and how the engine spells it.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandOption {
    setting: Setting,
    flag: &'static str,
    form: Form,
    omitted: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
enum Form {
    Separate,
    Joined,
    Switch,
    Toggle(&'static str),
    Spread,
    Repeat,
}

impl CommandOption {
    fn new(flag: &'static str, form: Form, mut setting: Setting) -> CommandOption {
        setting.engine_option.get_or_insert_with(|| flag.to_owned());
        CommandOption { setting, flag, form, omitted: None }
    }

    /// `--flag VALUE`.
    pub fn value(flag: &'static str, setting: Setting) -> CommandOption {
        CommandOption::new(flag, Form::Separate, setting)
    }

    /// `--flag=VALUE`.
    pub fn joined(flag: &'static str, setting: Setting) -> CommandOption {
        CommandOption::new(flag, Form::Joined, setting)
    }

    /// `--flag` where the setting is true, nothing where it is false.
    pub fn switch(flag: &'static str, setting: Setting) -> CommandOption {
        CommandOption::new(flag, Form::Switch, setting)
    }

    /// `--flag` where the setting is true, `--no-flag` where it is false.
    pub fn toggle(flag: &'static str, off: &'static str, setting: Setting) -> CommandOption {
        CommandOption::new(flag, Form::Toggle(off), setting)
    }

    /// `--flag A B C` for a list.
    pub fn spread(flag: &'static str, setting: Setting) -> CommandOption {
        CommandOption::new(flag, Form::Spread, setting)
    }

    /// `--flag A --flag B` for a list.
    pub fn repeat(flag: &'static str, setting: Setting) -> CommandOption {
        CommandOption::new(flag, Form::Repeat, setting)
    }

    /// The engine's own default: with this value the command is the same without the option.
    #[must_use]
    pub fn omit(mut self, default: impl Into<Value>) -> CommandOption {
        self.omitted = Some(default.into());
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
        let flag = self.flag.to_owned();
        match (&self.form, value) {
            (Form::Switch | Form::Toggle(_), Value::Boolean(true)) => args.push(flag),
            (Form::Toggle(off), _) => args.push((*off).to_owned()),
            (Form::Switch, _) => {}
            (Form::Spread, Value::TextList(items)) if items.is_empty() => {}
            (Form::Spread, Value::TextList(items)) => {
                args.push(flag);
                args.extend(items.iter().cloned());
            }
            (Form::Repeat, Value::TextList(items)) => {
                args.extend(items.iter().flat_map(|item| [flag.clone(), item.clone()]));
            }
            (Form::Joined, _) => args.push(format!("{flag}={}", self.show(value))),
            (Form::Separate | Form::Spread | Form::Repeat, _) => args.extend([flag, self.show(value)]),
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
