//! One table of the workload, read by its rows of the key table: types, ranges and unknown keys.

use crate::keys::{Key, Kind, TableDef, Word};
use crate::nearest::{list, nearest, suggestion};
use crate::units::{duration, size};
use crate::value::{At, Context, Draft, Node, Table, Value};
use bench_core::clock::Nanos;
use std::collections::BTreeMap;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given<T> {
    pub(crate) value: T,
    pub(crate) at: At,
}

/// A table whose keys are known and whose values have the right type and range.
pub(crate) struct Section<'n> {
    def: &'static TableDef,
    /// Dotted, scenarios by name: what goes into `asked`.
    path: String,
    /// Where the table begins.
    pub(crate) at: At,
    entries: BTreeMap<&'static str, Item<'n>>,
}

struct Item<'n> {
    node: &'n Node,
    /// `None` where the value is wrong, which was said.
    read: Option<Read>,
}

/// A value of a simple kind.
#[derive(Clone)]
enum Read {
    Text(String),
    Flag(bool),
    Integer(u64),
    Number(f64),
    Texts(Vec<Given<String>>),
    /// Of no simple kind: read by who takes it.
    Node,
}

impl<'n> Section<'n> {
    /// Reads `table`; what is wrong with its keys and values goes into the context.
    pub(crate) fn read(
        cx: &mut Context<'_>,
        def: &'static TableDef,
        path: &str,
        at: &At,
        table: Option<&'n Table>,
    ) -> Section<'n> {
        let mut section = Section { def, path: path.to_owned(), at: at.clone(), entries: BTreeMap::new() };
        for (name, entry) in table.into_iter().flatten() {
            let Some(key) = def.keys.iter().find(|k| k.name == name) else {
                unknown_key(cx, def, name, &entry.key_at);
                continue;
            };
            let read = read_value(cx, key, &entry.node);
            if !matches!(key.kind, Kind::Table(_) | Kind::Tables(_) | Kind::Options) {
                cx.asked.insert(section.dotted(name));
            }
            section.entries.insert(key.name, Item { node: &entry.node, read });
        }
        for key in def.keys.iter().filter(|k| k.required) {
            if !section.has(key.name) && table.is_some() {
                section.missing(cx, key.name);
            }
        }
        section
    }

    /// Says that a key is missing.
    pub(crate) fn missing(&self, cx: &mut Context<'_>, name: &str) {
        let Some(key) = self.def.keys.iter().find(|k| k.name == name) else { return };
        let message = match (self.def.path, key.kind) {
            ("", Kind::Table(t) | Kind::Tables(t)) => format!("`{}` is missing", header(t)),
            ("", _) => format!("`{name}` is missing"),
            (path, Kind::Table(t) | Kind::Tables(t)) => format!("`{}` is missing in `{path}`", header(t)),
            (path, _) => format!("`{name}` is missing in `{path}`"),
        };
        cx.push(Draft::error(message).at(&self.at, "this table").help(example(self.def.path, name, key)));
    }

    /// The dotted name of a key.
    pub(crate) fn dotted(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// The key is there, whatever its value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// The table `name` below this one has `key`.
    pub(crate) fn section_has(&self, name: &str, key: &str) -> bool {
        match self.node(name).map(|n| &n.value) {
            Some(Value::Table(t)) => t.contains_key(key),
            _ => false,
        }
    }

    /// Place of a key's value.
    pub(crate) fn place(&self, name: &str) -> Option<&At> {
        self.entries.get(name).map(|i| &i.node.at)
    }

    /// The value itself, where its type is right.
    pub(crate) fn node(&self, name: &str) -> Option<&'n Node> {
        self.entries.get(name).filter(|i| i.read.is_some()).map(|i| i.node)
    }

    fn get<T>(&self, name: &str, pick: impl Fn(&Read) -> Option<T>) -> Option<Given<T>> {
        debug_assert!(self.def.keys.iter().any(|k| k.name == name), "no key `{name}` in `{}`", self.def.path);
        let item = self.entries.get(name)?;
        let value = pick(item.read.as_ref()?)?;
        Some(Given { value, at: item.node.at.clone() })
    }

    pub(crate) fn text(&self, name: &str) -> Option<Given<String>> {
        self.get(name, |r| if let Read::Text(t) = r { Some(t.clone()) } else { None })
    }

    pub(crate) fn flag(&self, name: &str) -> Option<Given<bool>> {
        self.get(name, |r| if let Read::Flag(b) = r { Some(*b) } else { None })
    }

    pub(crate) fn integer(&self, name: &str) -> Option<Given<u64>> {
        self.get(name, |r| if let Read::Integer(i) = r { Some(*i) } else { None })
    }

    /// An integer whose greatest value in the key table fits.
    pub(crate) fn small(&self, name: &str) -> Option<Given<u32>> {
        self.get(name, |r| if let Read::Integer(i) = r { u32::try_from(*i).ok() } else { None })
    }

    pub(crate) fn number(&self, name: &str) -> Option<Given<f64>> {
        self.get(name, |r| if let Read::Number(x) = r { Some(*x) } else { None })
    }

    pub(crate) fn time(&self, name: &str) -> Option<Given<Nanos>> {
        self.get(name, |r| if let Read::Integer(ns) = r { Some(Nanos(*ns)) } else { None })
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<Given<String>> {
        self.get(name, |r| if let Read::Texts(t) = r { Some(t.clone()) } else { None })
            .map_or_else(Vec::new, |g| g.value)
    }

    /// A table below this one; absent, it is one without keys, and its required keys are not asked for.
    pub(crate) fn section(&self, cx: &mut Context<'_>, name: &str) -> Section<'n> {
        let def = self.def.keys.iter().find_map(|k| match k.kind {
            Kind::Table(t) if k.name == name => Some(t),
            _ => None,
        });
        let def = def.unwrap_or(self.def);
        let node = self.node(name);
        let table = node.and_then(|n| if let Value::Table(t) = &n.value { Some(t) } else { None });
        Section::read(cx, def, &self.dotted(name), node.map_or(&self.at, |n| &n.at), table)
    }
}

/// The brackets of a table.
fn header(table: &TableDef) -> String {
    if table.path == "scenario" { "[[scenario]]".to_owned() } else { format!("[{}]", table.path) }
}

/// How a missing key is written.
fn example(table: &str, name: &str, key: &Key) -> String {
    let lines = match (table, name) {
        ("", "name") => "name = \"qwen3-32b-sharegpt\"",
        ("", "engine") => "[engine]\nadapter = \"vllm\"\nmodel = \"Qwen/Qwen3-32B\"",
        ("", "scenario") => {
            "[[scenario]]\nname = \"chat\"\n[scenario.dataset]\nadapter = \"jsonl\"\noptions = { path = \"prompts.jsonl\" \
             }\n[scenario.load]\nkind = \"closed\"\nconcurrency = 4\nrequests = 100"
        }
        ("engine", "adapter") => "adapter = \"vllm\"",
        ("engine", "model") => "model = \"Qwen/Qwen3-32B\"",
        ("engine.attach", "urls") => "urls = [\"http://127.0.0.1:8000\"]",
        ("tokenizer", "path") => "path = \"tokenizer.json\"",
        ("scenario", "name") => "name = \"chat\"",
        ("scenario", "dataset") => "[scenario.dataset]\nadapter = \"jsonl\"\noptions = { path = \"prompts.jsonl\" }",
        ("scenario", "load") => "[scenario.load]\nkind = \"closed\"\nconcurrency = 4\nrequests = 100",
        ("scenario.dataset", "adapter") => "adapter = \"sharegpt\"",
        ("scenario.load", "kind") => "kind = \"closed\"",
        _ => key.doc,
    };
    format!("write for example:\n{lines}")
}

fn unknown_key(cx: &mut Context<'_>, def: &TableDef, name: &str, at: &At) {
    let place = if def.path.is_empty() { "the workload".to_owned() } else { format!("`{}`", def.path) };
    if def.path.is_empty() && name == "study" {
        let draft = Draft::error("`[study]` is not supported by this version").at(at, "a study");
        cx.push(draft.help("write the candidates as workloads of their own"));
        return;
    }
    let known: Vec<&str> = def.keys.iter().map(|k| k.name).collect();
    let help = match (nearest(name, known.iter().copied()), elsewhere(def, name)) {
        (Some(k), _) => format!("did you mean `{k}`?"),
        (None, Some((k, tables))) => format!("did you mean `{k}` of {tables}?"),
        (None, None) => format!("keys of {place}: {}", list(&known)),
    };
    cx.push(Draft::error(format!("{place} has no key `{name}`")).at(at, "unknown key").help(help));
}

/// The nearest key of the other tables, and those that have it.
fn elsewhere(def: &TableDef, name: &str) -> Option<(&'static str, String)> {
    let others = || crate::keys::TABLES.iter().filter(|t| t.path != def.path);
    let key = nearest(name, others().flat_map(|t| t.keys).map(|k| k.name))?;
    let tables = others().filter(|t| t.keys.iter().any(|k| k.name == key));
    let tables: Vec<String> = tables
        .map(|t| if t.path.is_empty() { "the first lines".to_owned() } else { format!("`{}`", header(t)) })
        .collect();
    Some((key, tables.join(" or ")))
}

/// Checks one value against its kind; `None` where it is wrong, which was said.
fn read_value(cx: &mut Context<'_>, key: &Key, node: &Node) -> Option<Read> {
    let read =
        match (&key.kind, &node.value) {
            (Kind::Text | Kind::Path, Value::Text(t)) => text(key, t),
            (Kind::Flag, Value::Flag(b)) => Ok(Read::Flag(*b)),
            (Kind::Integer { min, max }, Value::Integer(i)) => integer(key.name, *i, *min, *max),
            (Kind::Number { min, or_equal, max }, Value::Integer(_) | Value::Float(_)) => {
                number(key.name, as_f64(&node.value), *min, *or_equal, *max)
            }
            (Kind::Duration { or_zero }, Value::Text(t)) => match duration(t) {
                Ok(Nanos(0)) if !or_zero => Err(Draft::error(format!("`{}` can't be zero", key.name))),
                Ok(ns) => Ok(Read::Integer(ns.0)),
                Err(e) => Err(Draft::error(format!("`{t}` {e}"))
                    .help("write a length of time: `\"250ms\"`, `\"1.5s\"`, `\"2m\"`")),
            },
            (Kind::Size, Value::Text(t)) => match size(t) {
                Ok(0) => Err(Draft::error(format!("`{}` can't be zero", key.name))),
                Ok(bytes) => Ok(Read::Integer(bytes)),
                Err(e) => Err(Draft::error(format!("`{t}` {e}")).help("write a size: `\"64KiB\"`, `\"16GiB\"`")),
            },
            (Kind::Choice(words), Value::Text(t)) => choice(words, key.name, t),
            (Kind::Texts, Value::List(items)) => return texts(cx, key, items).map(Read::Texts),
            (Kind::Tables(_) | Kind::Patterns | Kind::Numbers { .. }, Value::List(_))
            | (Kind::Table(_) | Kind::Secretive | Kind::Paths | Kind::Extra | Kind::Options, Value::Table(_))
            | (Kind::Gpus, Value::List(_) | Value::Integer(_)) => Ok(Read::Node),
            (kind, value) => Err(wrong_type(key.name, kind, value)),
        };
    match read {
        Ok(read) => Some(read),
        Err(draft) => {
            cx.push(draft.at(&node.at, "here"));
            None
        }
    }
}

fn text(key: &Key, text: &str) -> Result<Read, Draft> {
    if text.trim().is_empty() {
        return Err(Draft::error(format!("`{}` is empty", key.name))
            .help(format!("leave `{}` out, or say what it is", key.name)));
    }
    Ok(Read::Text(text.to_owned()))
}

fn integer(name: &str, i: i128, min: u64, max: u64) -> Result<Read, Draft> {
    match u64::try_from(i) {
        Ok(n) if (min..=max).contains(&n) => Ok(Read::Integer(n)),
        _ => {
            let draft = Draft::error(format!("`{name}` can't be {}", show_integer(i)));
            Err(draft.help(format!("write a whole number from {min} to {max}")))
        }
    }
}

/// The number, as far as it was kept.
pub(crate) fn show_integer(i: i128) -> String {
    match i {
        i128::MAX => "as great as this".to_owned(),
        i128::MIN => "as small as this".to_owned(),
        _ => format!("`{i}`"),
    }
}

/// Numbers of both TOML types as one.
pub(crate) fn as_f64(value: &Value) -> f64 {
    match value {
        Value::Integer(i) => *i as f64,
        Value::Float(f) => *f,
        _ => f64::NAN,
    }
}

fn number(name: &str, x: f64, min: f64, or_equal: bool, max: f64) -> Result<Read, Draft> {
    let above = if or_equal { x >= min } else { x > min };
    if above && x <= max {
        return Ok(Read::Number(x));
    }
    let range = if or_equal { format!("from {min} to {max}") } else { format!("above {min}, up to {max}") };
    Err(Draft::error(format!("`{name}` can't be `{x}`")).help(format!("write a number {range}")))
}

fn choice(words: &[Word], name: &str, text: &str) -> Result<Read, Draft> {
    match words.iter().find(|w| w.word == text) {
        Some(Word { later: Some(instead), .. }) => {
            Err(Draft::error(format!("`{name} = \"{text}\"` is not supported by this version")).help(*instead))
        }
        Some(_) => Ok(Read::Text(text.to_owned())),
        None => {
            let known: Vec<&str> = words.iter().filter(|w| w.later.is_none()).map(|w| w.word).collect();
            Err(Draft::error(format!("`{text}` is no `{name}`")).help(suggestion(text, "choices", &known)))
        }
    }
}

fn texts(cx: &mut Context<'_>, key: &Key, items: &[Node]) -> Option<Vec<Given<String>>> {
    let mut all = Vec::new();
    let mut good = true;
    for (i, item) in items.iter().enumerate() {
        if let Value::Text(t) = &item.value {
            all.push(Given { value: t.clone(), at: item.at.clone() });
        } else {
            good = false;
            let name = format!("{}[{i}]", key.name);
            cx.push(wrong_type(&name, &Kind::Text, &item.value).at(&item.at, "in this list"));
        }
    }
    good.then_some(all)
}

/// The value has another type than the key takes.
pub(crate) fn wrong_type(name: &str, kind: &Kind, value: &Value) -> Draft {
    let (expected, help) = match kind {
        Kind::Text | Kind::Path | Kind::Choice(_) => ("a string", Some("put it in quotes")),
        Kind::Flag => ("a boolean", Some("write `true` or `false`")),
        Kind::Integer { .. } => ("a whole number", None),
        Kind::Number { .. } => ("a number", None),
        Kind::Duration { .. } => {
            ("a length of time", Some("write a number and its unit in quotes: `\"250ms\"`, `\"1.5s\"`, `\"2m\"`"))
        }
        Kind::Size => ("a size", Some("write a number and its unit in quotes: `\"64KiB\"`, `\"16GiB\"`")),
        Kind::Texts => ("a list of strings", Some("put it in brackets: `[\"...\"]`")),
        Kind::Patterns => ("a list of commands", Some("each is a list of arguments: `[[\"python3\", \"**\"]]`")),
        Kind::Numbers { .. } => ("a list of numbers", Some("put it in brackets: `[50, 99]`")),
        Kind::Gpus => ("a number or a list of indices", Some("write `2` or `[0, 1]`")),
        Kind::Secretive | Kind::Paths | Kind::Extra | Kind::Options | Kind::Table(_) => ("a table", None),
        Kind::Tables(_) => ("an array of tables", Some("write it with two brackets: `[[scenario]]`")),
    };
    let plain =
        matches!(value, Value::Text(_)) && matches!(kind, Kind::Integer { .. } | Kind::Number { .. } | Kind::Flag);
    let help = if plain { Some("leave the quotes out") } else { help };
    Draft::error(format!("`{name}` takes {expected}, not {}", value.type_name())).maybe_help(help.map(str::to_owned))
}
