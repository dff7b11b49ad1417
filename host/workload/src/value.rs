//! The values of a workload, each with its place; and the list of what there is to say of them.

use crate::diagnostic::Diagnostic;
use crate::overrides::Override;
use bench_core::adapter::Severity;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Bytes of the workload's text.
    Text(Range<usize>),
    /// The override with this index.
    Override(usize),
    /// Nowhere: the workload as a whole.
    Whole,
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: At,
    pub(crate) value: Value,
}

/// A TOML value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    /// Saturated where it is beyond an `i128`.
    Integer(i128),
    Float(f64),
    Flag(bool),
    Datetime(String),
    List(Vec<Node>),
    Table(Table),
}

/// A TOML table.
pub(crate) type Table = BTreeMap<String, Entry>;

/// What stands behind a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Place of the key.
    pub(crate) key_at: At,
    pub(crate) node: Node,
}

impl Value {
    /// The value's type, with its article.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Text(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a decimal number",
            Value::Flag(_) => "a boolean",
            Value::Datetime(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Parses the text. The errors are all that the parser could go on after.
pub(crate) fn parse(text: &str) -> Result<Table, Vec<Diagnostic>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(from_table(table.get_ref(), &At::Text));
    }
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for error in errors {
        let place = error.span().unwrap_or(text.len()..text.len());
        let diagnostic = Diagnostic::error(format!("this is not TOML: {}", error.message()))
            .with_label(place, "here")
            .with_help("https://toml.io shows the language on one page");
        if !diagnostics.contains(&diagnostic) {
            diagnostics.push(diagnostic);
        }
    }
    diagnostics.sort_by_key(|d| d.labels.first().map(|(span, _)| span.start));
    Err(diagnostics)
}

/// Parses one value; every part of it gets the same place.
pub(crate) fn parse_value(text: &str, at: &At) -> Result<Node, String> {
    let value = DeValue::parse(text).map_err(|e| e.message().to_owned())?;
    Ok(from_value(value.get_ref(), value.span(), &|_| at.clone()))
}

fn from_table(table: &DeTable<'_>, place: &dyn Fn(Range<usize>) -> At) -> Table {
    table
        .iter()
        .map(|(k, v)| {
            let node = from_value(v.get_ref(), v.span(), place);
            (k.get_ref().to_string(), Entry { key_at: place(k.span()), node })
        })
        .collect()
}

fn from_value(value: &DeValue<'_>, span: Range<usize>, place: &dyn Fn(Range<usize>) -> At) -> Node {
    let value = match value {
        DeValue::String(s) => Value::Text(s.to_string()),
        DeValue::Integer(i) => {
            let most = if i.as_str().starts_with('-') { i128::MIN } else { i128::MAX };
            Value::Integer(i128::from_str_radix(i.as_str(), i.radix()).unwrap_or(most))
        }
        DeValue::Float(f) => Value::Float(f.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(b) => Value::Flag(*b),
        DeValue::Datetime(d) => Value::Datetime(d.to_string()),
        DeValue::Array(a) => Value::List(a.iter().map(|v| from_value(v.get_ref(), v.span(), place)).collect()),
        DeValue::Table(t) => Value::Table(from_table(t, place)),
    };
    Node { at: place(span), value }
}

/// A diagnostic in the making: its places may be overrides.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    severity: Severity,
    message: String,
    labels: Vec<(At, String)>,
    help: Option<String>,
}

impl Draft {
    pub(crate) fn error(message: impl Into<String>) -> Draft {
        Draft { severity: Severity::Error, message: message.into(), labels: Vec::new(), help: None }
    }

    pub(crate) fn warning(message: impl Into<String>) -> Draft {
        Draft { severity: Severity::Warning, ..Draft::error(message) }
    }

    pub(crate) fn at(mut self, at: &At, label: impl Into<String>) -> Draft {
        self.labels.push((at.clone(), label.into()));
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Draft {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Draft {
        self.help = help;
        self
    }
}

/// What goes along while a workload is resolved.
pub(crate) struct Context<'a> {
    pub(crate) base_dir: &'a Path,
    overrides: &'a [Override],
    diagnostics: Vec<Diagnostic>,
    /// Dotted keys that the user gave.
    pub(crate) asked: BTreeSet<String>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(base_dir: &'a Path, overrides: &'a [Override]) -> Context<'a> {
        Context { base_dir, overrides, diagnostics: Vec::new(), asked: BTreeSet::new() }
    }

    /// Keeps a diagnostic.
    pub(crate) fn push(&mut self, draft: Draft) {
        let from = draft.labels.iter().find_map(|(at, _)| match at {
            At::Override(i) => self.overrides.get(*i),
            _ => None,
        });
        let message = match from {
            Some(o) => format!("in `--set {o}`: {}", draft.message),
            None => draft.message,
        };
        let labels = draft
            .labels
            .into_iter()
            .filter_map(|(at, label)| match at {
                At::Text(span) => Some((span, label)),
                _ => None,
            })
            .collect();
        self.diagnostics.push(Diagnostic { severity: draft.severity, message, labels, help: draft.help });
    }

    /// No error so far.
    pub(crate) fn is_clean(&self) -> bool {
        self.diagnostics.iter().all(|d| d.severity != Severity::Error)
    }

    /// All that was said, in the order of the text; what has no place comes first.
    pub(crate) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|d| d.labels.first().map(|(span, _)| span.start));
        self.diagnostics
    }
}
