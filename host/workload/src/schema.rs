//! JSON Schema of the workload file, adapters' options included.

use crate::keys::{Key, Kind, LOAD, ROOT, TableDef};
use crate::resolve::KINDS;
use crate::units::{DURATION_PATTERN, SIZE_PATTERN, show_duration, show_size};
use bench_core::adapter::{DatasetManifest, EngineManifest, Setting, SettingKind, SettingValue};
use bench_core::clock::Nanos;
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of a workload file. Where `adapter` is one of these, its options are
/// checked; of another adapter's options nothing is known.
pub fn schema(engines: &[EngineManifest], datasets: &[DatasetManifest]) -> Value {
    let mut root = table(&ROOT);
    let engine = engines.iter().map(|m| (m.info.id.as_str(), m.info.summary.as_str(), m.settings.as_slice()));
    let dataset = datasets.iter().map(|m| (m.info.id.as_str(), m.info.summary.as_str(), m.settings.as_slice()));
    if let Some(e) = root.pointer_mut("/properties/engine") {
        with_adapters(e, engine);
        insert(e, "not", json!({ "required": ["launch", "attach"] }));
    }
    if let Some(d) = root.pointer_mut("/properties/scenario/items/properties/dataset") {
        with_adapters(d, dataset);
    }
    let head = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Workload of bench-host",
    });
    let (Value::Object(mut all), Value::Object(body)) = (head, root) else { return Value::Null };
    all.extend(body);
    Value::Object(all)
}

fn insert(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = object {
        map.insert(key.to_owned(), value);
    }
}

/// Adds a rule for the options of each adapter.
fn with_adapters<'m>(table: &mut Value, adapters: impl Iterator<Item = (&'m str, &'m str, &'m [Setting])>) {
    let mut rules = Vec::new();
    let mut ids = Vec::new();
    for (id, summary, settings) in adapters {
        let mut then = json!({ "properties": { "options": options(settings) } });
        if settings.iter().any(|s| s.required && s.default.is_none()) {
            insert(&mut then, "required", json!(["options"]));
        }
        rules.push(json!({
            "if": { "properties": { "adapter": { "const": id } }, "required": ["adapter"] },
            "then": then,
        }));
        ids.push(json!({ "const": id, "description": summary }));
    }
    if rules.is_empty() {
        return;
    }
    insert(table, "allOf", Value::Array(rules));
    if let Some(adapter) = table.pointer_mut("/properties/adapter") {
        ids.push(
            json!({ "type": "string", "minLength": 1, "description": "Another adapter, or the path of a `.wasm`." }),
        );
        insert(adapter, "anyOf", Value::Array(ids));
    }
}

fn table(def: &TableDef) -> Value {
    let properties: Map<String, Value> = def.keys.iter().map(|k| (k.name.to_owned(), property(k))).collect();
    let required: Vec<&str> = def.keys.iter().filter(|k| k.required).map(|k| k.name).collect();
    let mut object = json!({
        "description": def.doc,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        insert(&mut object, "required", json!(required));
    }
    if def.path == LOAD.path {
        insert(&mut object, "allOf", load_rules());
    }
    object
}

/// Each kind of load takes its own keys.
fn load_rules() -> Value {
    let rules = KINDS.iter().map(|k| {
        let names: Vec<&str> = ["kind", "requests"].iter().chain(k.needs).chain(k.takes).copied().collect();
        let mut then = json!({ "propertyNames": { "enum": names }, "required": k.needs });
        if !k.needs.contains(&"requests") {
            insert(&mut then, "anyOf", json!([{ "required": ["requests"] }, { "required": ["duration"] }]));
        }
        json!({ "if": { "properties": { "kind": { "const": k.kind } }, "required": ["kind"] }, "then": then })
    });
    Value::Array(rules.collect())
}

fn property(key: &Key) -> Value {
    let mut value = kind(&key.kind);
    let doc =
        if key.default.is_empty() { key.doc.to_owned() } else { format!("{} Default: {}.", key.doc, key.default) };
    if !matches!(key.kind, Kind::Table(_)) {
        insert(&mut value, "description", Value::String(doc));
    }
    value
}

fn kind(kind: &Kind) -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    match kind {
        Kind::Text | Kind::Path => text,
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number { min, or_equal: true, max } => json!({ "type": "number", "minimum": min, "maximum": max }),
        Kind::Number { min, or_equal: false, max } => {
            json!({ "type": "number", "exclusiveMinimum": min, "maximum": max })
        }
        Kind::Duration { .. } => json!({ "type": "string", "pattern": DURATION_PATTERN }),
        Kind::Size => json!({ "type": "string", "pattern": SIZE_PATTERN }),
        Kind::Choice(words) => {
            let words: Vec<&str> = words.iter().filter(|w| w.later.is_none()).map(|w| w.word).collect();
            json!({ "enum": words })
        }
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Patterns => json!({
            "type": "array",
            "items": { "type": "array", "minItems": 1, "items": { "type": "string" } },
        }),
        Kind::Numbers { min, max } => json!({
            "type": "array",
            "items": { "type": "number", "exclusiveMinimum": min, "exclusiveMaximum": max },
        }),
        Kind::Secretive => json!({
            "type": "object",
            "additionalProperties": {
                "oneOf": [
                    { "type": "string" },
                    { "type": "object", "properties": { "env": text }, "required": ["env"], "additionalProperties": false },
                ],
            },
        }),
        Kind::Paths => json!({ "type": "object", "additionalProperties": text }),
        Kind::Gpus => json!({
            "oneOf": [
                { "type": "integer", "minimum": 0, "maximum": 1023 },
                { "type": "array", "uniqueItems": true, "items": { "type": "integer", "minimum": 0, "maximum": 1023 } },
            ],
        }),
        Kind::Extra | Kind::Options => json!({ "type": "object" }),
        Kind::Table(def) => table(def),
        Kind::Tables(def) => json!({ "type": "array", "minItems": 1, "items": table(def) }),
    }
}

/// The options of one adapter; a dotted key is a key of a nested table.
fn options(settings: &[Setting]) -> Value {
    let mut object = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    for setting in settings {
        let parts: Vec<&str> = setting.key.split('.').collect();
        add_option(&mut object, &parts, setting);
        if parts.len() > 1 {
            // The quoted key is taken as well.
            add_option(&mut object, &[setting.key.as_str()], &Setting { required: false, ..setting.clone() });
        }
    }
    object
}

fn add_option(object: &mut Value, path: &[&str], setting: &Setting) {
    let Some((first, rest)) = path.split_first() else { return };
    if rest.is_empty() && setting.required && setting.default.is_none() && !setting.key.contains('.') {
        add_required(object, first);
    }
    let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
    if rest.is_empty() {
        properties.insert((*first).to_owned(), option(setting));
        return;
    }
    let below = properties
        .entry(*first)
        .or_insert_with(|| json!({ "type": "object", "properties": {}, "additionalProperties": false }));
    add_option(below, rest, setting);
}

fn add_required(object: &mut Value, key: &str) {
    let Value::Object(map) = object else { return };
    if let Value::Array(required) = map.entry("required").or_insert_with(|| json!([]))
        && !required.iter().any(|r| r == key)
    {
        required.push(json!(key));
    }
}

fn option(setting: &Setting) -> Value {
    let mut value = match &setting.kind {
        SettingKind::Boolean => json!({ "type": "boolean" }),
        SettingKind::Integer { min, max } => bounded("integer", min.map(|m| json!(m)), max.map(|m| json!(m))),
        SettingKind::Number { min, max } => bounded("number", min.map(|m| json!(m)), max.map(|m| json!(m))),
        SettingKind::Text => json!({ "type": "string" }),
        SettingKind::Choice(items) => {
            let items: Vec<Value> =
                items.iter().map(|(name, doc)| json!({ "const": name, "description": doc })).collect();
            json!({ "oneOf": items })
        }
        SettingKind::TextList => json!({ "type": "array", "items": { "type": "string" } }),
        SettingKind::TextMap => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        SettingKind::Duration => json!({ "type": "string", "pattern": DURATION_PATTERN }),
        SettingKind::Size => json!({ "type": "string", "pattern": SIZE_PATTERN }),
        SettingKind::Source => json!({ "type": "string", "minLength": 1 }),
    };
    let doc = match &setting.engine_option {
        Some(option) => format!("{} Engine option: `{option}`.", setting.doc),
        None => setting.doc.clone(),
    };
    insert(&mut value, "description", Value::String(doc));
    if let Some(default) = &setting.default {
        insert(&mut value, "default", default_of(&setting.kind, default));
    }
    if setting.deprecated.is_some() {
        insert(&mut value, "deprecated", Value::Bool(true));
    }
    value
}

fn bounded(kind: &str, min: Option<Value>, max: Option<Value>) -> Value {
    let mut value = json!({ "type": kind });
    for (key, bound) in [("minimum", min), ("maximum", max)] {
        if let Some(bound) = bound {
            insert(&mut value, key, bound);
        }
    }
    value
}

/// The default as one would write it in the file.
fn default_of(kind: &SettingKind, value: &SettingValue) -> Value {
    match (kind, value) {
        (SettingKind::Duration, SettingValue::Integer(ms)) => {
            let ms = u64::try_from(*ms).unwrap_or(0);
            Value::String(show_duration(Nanos(ms.saturating_mul(1_000_000))))
        }
        (SettingKind::Size, SettingValue::Integer(bytes)) => {
            Value::String(show_size(u64::try_from(*bytes).unwrap_or(0)))
        }
        _ => serde_json::to_value(value).unwrap_or_default(),
    }
}
