//! What both kinds of adapter share: who they are, their settings, and what they say when something is
//! wrong.

#[doc(inline)]
pub use crate::bindings::engine::bench::adapter::types::{
    ChoiceItem, Diagnostic, Error, Info, IntegerRange, MalformedInput, NumberRange, Setting, SettingKind, SettingValue,
    Severity, Value,
};
