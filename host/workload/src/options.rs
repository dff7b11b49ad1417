//! An adapter's options against the settings that it declares.

use crate::keys::Kind;
use crate::nearest::suggestion;
use crate::plan::PlanPath;
use crate::reader::{as_f64, show_integer, wrong_type};
use crate::units::{duration, size};
use crate::value::{At, Context, Draft, Node, Table, Value};
use bench_core::adapter::{Setting, SettingKind, SettingValue, Settings};
use std::collections::BTreeMap;

/// Validated options: values with the defaults filled in, and files to grant.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) settings: Settings,
    pub(crate) sources: BTreeMap<String, PlanPath>,
}

/// The adapter whose options are read.
pub(crate) struct Adapter<'a> {
    /// As the workload names it.
    pub(crate) name: &'a str,
    pub(crate) settings: &'a [Setting],
    /// Where its name stands.
    pub(crate) at: &'a At,
    /// Dotted path of its options.
    pub(crate) path: String,
}

/// Checks the options of an adapter, fills in defaults.
pub(crate) fn resolve(cx: &mut Context<'_>, adapter: &Adapter<'_>, given: Option<&Table>) -> Options {
    let mut options = Options::default();
    let mut flat = BTreeMap::new();
    for (key, entry) in given.into_iter().flatten() {
        flatten(adapter.settings, key.clone(), &entry.key_at, &entry.node, &mut flat);
    }
    for (key, (key_at, node)) in &flat {
        cx.asked.insert(format!("{}.{key}", adapter.path));
        let Some(setting) = adapter.settings.iter().find(|s| s.key == *key) else {
            let known: Vec<&str> = adapter.settings.iter().map(|s| s.key.as_str()).collect();
            let draft = Draft::error(format!("adapter `{}` has no option `{key}`", adapter.name));
            cx.push(draft.at(key_at, "unknown option").help(suggestion(key, "options", &known)));
            continue;
        };
        if let Some(instead) = &setting.deprecated {
            let draft = Draft::warning(format!("option `{key}` of adapter `{}` is going away", adapter.name));
            cx.push(draft.at(key_at, "deprecated").help(instead.clone()));
        }
        match read(cx, setting, node) {
            Ok(Taken::Value(value)) => {
                options.settings.insert(key.clone(), value);
            }
            Ok(Taken::Source(written)) => {
                let path = cx.base_dir.join(&written);
                options.sources.insert(key.clone(), PlanPath { written, path });
            }
            Err(draft) => cx.push(draft.at(&node.at, "here")),
        }
    }
    for setting in adapter.settings.iter().filter(|s| !flat.contains_key(s.key.as_str())) {
        if let Some(default) = &setting.default {
            options.settings.insert(setting.key.clone(), default.clone());
        } else if setting.required {
            let draft = Draft::error(format!("adapter `{}` needs the option `{}`", adapter.name, setting.key));
            let summary = setting.doc.lines().next().unwrap_or_default().trim_end_matches('.');
            let help = format!("set `{}.{}`: {summary}", general(&adapter.path), setting.key);
            cx.push(draft.at(adapter.at, "this adapter").help(help));
        }
    }
    options
}

/// The path as it stands in the file: without the scenario's name.
fn general(path: &str) -> &str {
    if path.starts_with("scenario.") { "scenario.dataset.options" } else { path }
}

/// Nested tables to dotted keys, as far as no setting is itself a table.
fn flatten<'n>(
    settings: &[Setting],
    key: String,
    key_at: &'n At,
    node: &'n Node,
    out: &mut BTreeMap<String, (&'n At, &'n Node)>,
) {
    match &node.value {
        Value::Table(table) if groups(settings, &key) => {
            for (name, entry) in table {
                flatten(settings, format!("{key}.{name}"), &entry.key_at, &entry.node, out);
            }
        }
        _ => {
            out.insert(key, (key_at, node));
        }
    }
}

/// Some setting's key begins with this one and a dot, and none is this one.
fn groups(settings: &[Setting], key: &str) -> bool {
    let below = |s: &Setting| s.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
    settings.iter().all(|s| s.key != key) && settings.iter().any(below)
}

enum Taken {
    Value(SettingValue),
    Source(String),
}

fn read(cx: &mut Context<'_>, setting: &Setting, node: &Node) -> Result<Taken, Draft> {
    let key = setting.key.as_str();
    let value = match (&setting.kind, &node.value) {
        (SettingKind::Boolean, Value::Flag(b)) => SettingValue::Boolean(*b),
        (SettingKind::Integer { min, max }, Value::Integer(i)) => {
            let range = i128::from(min.unwrap_or(i64::MIN))..=i128::from(max.unwrap_or(i64::MAX));
            let n = i64::try_from(*i).ok().filter(|_| range.contains(i));
            SettingValue::Integer(
                n.ok_or_else(|| out_of_range(key, &show_integer(*i), "whole number", min.as_ref(), max.as_ref()))?,
            )
        }
        (SettingKind::Number { min, max }, v @ (Value::Integer(_) | Value::Float(_))) => {
            let x = as_f64(v);
            if !x.is_finite() || min.is_some_and(|m| x < m) || max.is_some_and(|m| x > m) {
                return Err(out_of_range(key, &format!("`{x}`"), "number", min.as_ref(), max.as_ref()));
            }
            SettingValue::Number(x)
        }
        (SettingKind::Text, Value::Text(t)) => SettingValue::Text(t.clone()),
        (SettingKind::Choice(items), Value::Text(t)) => {
            let known: Vec<&str> = items.iter().map(|(name, _)| name.as_str()).collect();
            if !known.contains(&t.as_str()) {
                return Err(Draft::error(format!("`{t}` is no `{key}`")).help(suggestion(t, "choices", &known)));
            }
            SettingValue::Text(t.clone())
        }
        (SettingKind::TextList, Value::List(items)) => SettingValue::TextList(text_list(cx, key, items)),
        (SettingKind::TextMap, Value::Table(table)) => SettingValue::TextMap(text_map(cx, key, table)),
        (SettingKind::Duration, Value::Text(t)) => SettingValue::Integer(milliseconds(t)?),
        (SettingKind::Size, Value::Text(t)) => {
            let bytes = size(t)
                .map_err(|e| Draft::error(format!("`{t}` {e}")).help("write a size: `\"64KiB\"`, `\"16GiB\"`"))?;
            SettingValue::Integer(i64::try_from(bytes).unwrap_or(i64::MAX))
        }
        (SettingKind::Source, Value::Text(t)) if t.trim().is_empty() => {
            return Err(Draft::error(format!("`{key}` is empty")).help("write the path of a file"));
        }
        (SettingKind::Source, Value::Text(t)) => return Ok(Taken::Source(t.clone())),
        (kind, value) => return Err(wrong_type(key, &like(kind), value)),
    };
    Ok(Taken::Value(value))
}

fn milliseconds(text: &str) -> Result<i64, Draft> {
    const HELP: &str = "write a length of time: `\"250ms\"`, `\"1.5s\"`, `\"2m\"`";
    let time = duration(text).map_err(|e| Draft::error(format!("`{text}` {e}")).help(HELP))?;
    if !time.0.is_multiple_of(1_000_000) {
        return Err(Draft::error(format!("`{text}` is finer than a millisecond")).help(HELP));
    }
    Ok(i64::try_from(time.0 / 1_000_000).unwrap_or(i64::MAX))
}

fn out_of_range<L: std::fmt::Display>(key: &str, value: &str, what: &str, min: Option<&L>, max: Option<&L>) -> Draft {
    let help = match (min, max) {
        (Some(min), Some(max)) => format!("write a {what} from {min} to {max}"),
        (Some(min), None) => format!("write a {what} from {min}"),
        (None, Some(max)) => format!("write a {what} up to {max}"),
        (None, None) => format!("write a finite {what}"),
    };
    Draft::error(format!("`{key}` can't be {value}")).help(help)
}

fn text_list(cx: &mut Context<'_>, key: &str, items: &[Node]) -> Vec<String> {
    let mut texts = Vec::new();
    for (i, item) in items.iter().enumerate() {
        match &item.value {
            Value::Text(t) => texts.push(t.clone()),
            other => cx.push(wrong_type(&format!("{key}[{i}]"), &Kind::Text, other).at(&item.at, "in this list")),
        }
    }
    texts
}

fn text_map(cx: &mut Context<'_>, key: &str, table: &Table) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for (name, entry) in table {
        match &entry.node.value {
            Value::Text(t) => {
                texts.insert(name.clone(), t.clone());
            }
            other => cx.push(wrong_type(&format!("{key}.{name}"), &Kind::Text, other).at(&entry.node.at, "here")),
        }
    }
    texts
}

/// The kind of ours whose messages fit.
fn like(kind: &SettingKind) -> Kind {
    match kind {
        SettingKind::Boolean => Kind::Flag,
        SettingKind::Integer { .. } => Kind::Integer { min: 0, max: u64::MAX },
        SettingKind::Number { .. } => Kind::Number { min: 0.0, or_equal: true, max: 0.0 },
        SettingKind::Text | SettingKind::Choice(_) | SettingKind::Source => Kind::Text,
        SettingKind::TextList => Kind::Texts,
        SettingKind::TextMap => Kind::Options,
        SettingKind::Duration => Kind::Duration { or_zero: true },
        SettingKind::Size => Kind::Size,
    }
}
