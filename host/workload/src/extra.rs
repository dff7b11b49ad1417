//! `[scenario.sampling] extra`: TOML as JSON, for the request's body.

use crate::value::{Context, Draft, Node, Table, Value};
use serde_json::{Map, Number, Value as Json};
use std::collections::BTreeMap;

/// Body fields that come from elsewhere: name, and the key to use.
const OURS: &[(&str, &str)] = &[
    ("model", "`engine.model` and `engine.served-as`"),
    ("messages", "the dataset"),
    ("prompt", "the dataset"),
    ("temperature", "`temperature` of `[scenario.sampling]`"),
    ("top_p", "`top-p` of `[scenario.sampling]`"),
    ("top_k", "`top-k` of `[scenario.sampling]`"),
    ("seed", "`seed` of `[scenario.sampling]`"),
    ("max_tokens", "`max-tokens` of `[scenario.sampling]`"),
    ("max_completion_tokens", "`max-tokens` of `[scenario.sampling]`"),
    ("min_tokens", "`min-tokens` of `[scenario.sampling]`"),
    ("ignore_eos", "`ignore-eos` of `[scenario.sampling]`"),
    ("stop", "`stop` of `[scenario.sampling]`"),
    ("stream", "`stream` of `[scenario.sampling]`"),
    ("stream_options", "the engine's adapter"),
];

/// The fields, each as JSON; what JSON can't hold is said.
pub(crate) fn fields(cx: &mut Context<'_>, table: &Table) -> BTreeMap<String, Json> {
    let mut fields = BTreeMap::new();
    for (name, entry) in table {
        if let Some((_, instead)) = OURS.iter().find(|(ours, _)| ours == name) {
            let draft = Draft::error(format!("`{name}` can't be an extra field"));
            cx.push(draft.at(&entry.key_at, "set elsewhere").help(format!("it comes from {instead}")));
        } else if let Some(json) = json(cx, &entry.node) {
            fields.insert(name.clone(), json);
        }
    }
    fields
}

fn json(cx: &mut Context<'_>, node: &Node) -> Option<Json> {
    let json = match &node.value {
        Value::Text(t) => Some(Json::String(t.clone())),
        Value::Flag(b) => Some(Json::Bool(*b)),
        Value::Integer(i) => i64::try_from(*i).ok().map(Json::from).or_else(|| u64::try_from(*i).ok().map(Json::from)),
        Value::Float(f) => Number::from_f64(*f).map(Json::Number),
        Value::Datetime(_) => None,
        Value::List(items) => return items.iter().map(|i| json(cx, i)).collect::<Option<Vec<_>>>().map(Json::Array),
        Value::Table(table) => {
            let entries = table.iter().map(|(k, e)| json(cx, &e.node).map(|v| (k.clone(), v)));
            return entries.collect::<Option<Map<_, _>>>().map(Json::Object);
        }
    };
    if json.is_none() {
        let draft = Draft::error(format!(
            "{} can't be written as JSON",
            match node.value {
                Value::Datetime(_) => "a date",
                _ => "this number",
            }
        ));
        cx.push(draft.at(&node.at, "here").help("write it as a string, if that is what the server takes"));
    }
    json
}
