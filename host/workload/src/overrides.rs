//! `--set key=value`: one value of the workload replaced from outside.

use crate::nearest::{list, nearest};
use crate::value::{At, Context, Draft, Entry, Node, Table, Value, parse_value};
use std::fmt;
use std::str::FromStr;

/// One `--set key=value`.
///
/// The key is dotted as in TOML (`engine.options.tensor-parallel-size`); scenarios are named by index
/// or name (`scenario.0.load.rate`, `scenario.chat.load.rate`), `*` means every one. The value is TOML;
/// what is no TOML value is a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    key: String,
    path: Vec<String>,
    value: String,
}

/// An override that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// There is no `=`.
    #[error("override `{0}` has no `=`: write `key=value`")]
    NoValue(String),
    /// The key is no dotted key.
    #[error("override `{0}`: `{1}` is no dotted key: write `scenario.0.load.rate=4`")]
    BadKey(String, String),
}

impl FromStr for Override {
    type Err = OverrideError;

    fn from_str(text: &str) -> Result<Override, OverrideError> {
        let (key, value) = split_value(text).ok_or_else(|| OverrideError::NoValue(text.to_owned()))?;
        let path = split_key(key).ok_or_else(|| OverrideError::BadKey(text.to_owned(), key.to_owned()))?;
        Ok(Override { key: key.to_owned(), path, value: value.trim().to_owned() })
    }
}

impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

/// Splits at the first `=` outside quotes.
fn split_value(text: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '=' if !quoted => return Some((text[..i].trim(), &text[i + 1..])),
            _ => {}
        }
    }
    None
}

/// The parts of a dotted key; a part with a dot in it is quoted.
fn split_key(key: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = key;
    loop {
        let (part, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if part.is_empty() || part.contains('"') {
            return None;
        }
        parts.push(part.to_owned());
        if after.is_empty() {
            return Some(parts);
        }
        rest = after.strip_prefix('.')?;
    }
}

/// Puts the overrides into the tree, in their order.
pub(crate) fn apply(cx: &mut Context<'_>, root: &mut Table, overrides: &[Override]) {
    for (i, o) in overrides.iter().enumerate() {
        let at = At::Override(i);
        match value_of(o, &at) {
            Ok(node) => {
                if let Err(draft) = set_in_root(root, o, &node) {
                    cx.push(draft.at(&at, ""));
                }
            }
            Err(draft) => cx.push(draft.at(&at, "")),
        }
    }
}

fn value_of(o: &Override, at: &At) -> Result<Node, Draft> {
    match parse_value(&o.value, at) {
        Ok(node) => Ok(node),
        // What begins like TOML was meant as TOML.
        Err(e) if o.value.starts_with(['[', '{', '"', '\'']) => {
            Err(Draft::error(format!("the value is not TOML: {e}")))
        }
        Err(_) => Ok(Node { at: at.clone(), value: Value::Text(o.value.clone()) }),
    }
}

fn set_in_root(root: &mut Table, o: &Override, node: &Node) -> Result<(), Draft> {
    let [first, which, rest @ ..] = o.path.as_slice() else {
        return set(root, &o.path, node);
    };
    if first != "scenario" {
        return set(root, &o.path, node);
    }
    if rest.is_empty() {
        return Err(Draft::error("a scenario can't be replaced as a whole")
            .help(format!("name a key of it: `--set scenario.{which}.load.rate=4`")));
    }
    let Some(Value::List(scenarios)) = root.get_mut("scenario").map(|e| &mut e.node.value) else {
        return Err(Draft::error("the workload has no `[[scenario]]`"));
    };
    let chosen = choose(scenarios, which)?;
    for i in chosen {
        if let Some(Value::Table(scenario)) = scenarios.get_mut(i).map(|n| &mut n.value) {
            set(scenario, rest, node)?;
        }
    }
    Ok(())
}

/// Indices of the scenarios that `which` means.
fn choose(scenarios: &[Node], which: &str) -> Result<Vec<usize>, Draft> {
    if which == "*" {
        return Ok((0..scenarios.len()).collect());
    }
    let names: Vec<&str> = scenarios.iter().map(name_of).collect();
    if let Some(i) = names.iter().position(|n| *n == which) {
        return Ok(vec![i]);
    }
    if let Ok(i) = which.parse::<usize>() {
        if i < scenarios.len() {
            return Ok(vec![i]);
        }
        return Err(Draft::error(format!("there is no scenario {i}"))
            .help(format!("scenarios are counted from 0; there are {}", scenarios.len())));
    }
    let help = match nearest(which, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("scenarios: {}; `*` means all of them", list(&names)),
    };
    Err(Draft::error(format!("there is no scenario `{which}`")).help(help))
}

fn name_of(scenario: &Node) -> &str {
    let Value::Table(t) = &scenario.value else { return "" };
    match t.get("name").map(|e| &e.node.value) {
        Some(Value::Text(name)) => name,
        _ => "",
    }
}

/// Sets a key below `table`, making the tables on the way.
fn set(table: &mut Table, path: &[String], node: &Node) -> Result<(), Draft> {
    let Some((last, way)) = path.split_last() else { return Ok(()) };
    let mut table = table;
    for part in way {
        let entry = table.entry(part.clone()).or_insert_with(|| Entry {
            key_at: node.at.clone(),
            node: Node { at: node.at.clone(), value: Value::Table(Table::new()) },
        });
        match &mut entry.node.value {
            Value::Table(t) => table = t,
            other => {
                let message = format!("`{part}` is {} and has no keys", other.type_name());
                return Err(Draft::error(message));
            }
        }
    }
    table.insert(last.clone(), Entry { key_at: node.at.clone(), node: node.clone() });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_are_split() {
        let o: Override = "scenario.\"qwen2.5\".load.rate = 4".parse().unwrap();
        assert_eq!(o.path, ["scenario", "qwen2.5", "load", "rate"]);
        assert_eq!(o.value, "4");
        assert_eq!(o.to_string(), "scenario.\"qwen2.5\".load.rate=4");
        let o: Override = "engine.launch.env.A=b=c".parse().unwrap();
        assert_eq!(o.value, "b=c");
    }

    #[test]
    fn bad_keys_are_refused() {
        for text in ["", "x", "=1", "a..b=1", ".a=1", "a.=1", "\"a=1", "a\"b\"=1"] {
            assert!(text.parse::<Override>().is_err(), "{text}");
        }
    }
}
