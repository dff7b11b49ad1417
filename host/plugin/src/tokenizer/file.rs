//! The file of a tokenizer, brought into the current format.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A `tokenizer.json` in the current format.
pub(super) struct CurrentFile {
    pub(super) text: String,
    /// Number of entries of the model's vocabulary.
    pub(super) vocabulary_size: u32,
    /// The greatest id among them.
    pub(super) greatest_id: u32,
}

type Object<'a> = BTreeMap<String, &'a RawValue>;

/// Converts a file of any known format. Vocabulary and merges are nearly all of it and stay text: read as
/// trees they take ten times their size.
pub(super) fn current(text: &str) -> Result<CurrentFile, String> {
    let no_json = |e: serde_json::Error| format!("it is no JSON of a tokenizer: {e}");
    let file: Object = serde_json::from_str(text).map_err(no_json)?;
    let model_text = file.get("model").ok_or("it has no `model`")?;
    let mut model: Object = serde_json::from_str(model_text.get()).map_err(no_json)?;
    let vocab = model.remove("vocab").ok_or("it has no `model.vocab`")?;
    let merges = model.remove("merges").filter(|m| m.get() != "null");
    let (vocabulary_size, greatest_id) = vocabulary(vocab).map_err(no_json)?;

    // What decides how the rest is converted is which of the two there are, and of which type.
    let mut small_model = tree(&model).map_err(no_json)?;
    let array = vocab.get().starts_with('[');
    small_model.insert("vocab".to_owned(), if array { Value::Array(Vec::new()) } else { Value::Object(Map::new()) });
    if merges.is_some() {
        small_model.insert("merges".to_owned(), Value::Array(Vec::new()));
    }
    let rest: Object = file.iter().filter(|(k, _)| *k != "model").map(|(k, v)| (k.clone(), *v)).collect();
    let mut small = tree(&rest).map_err(no_json)?;
    small.insert("model".to_owned(), Value::Object(small_model));
    let mut small = Value::Object(small);
    tokenizers::canonicalize_value(&mut small).map_err(|e| e.to_string())?;

    let model = small.as_object_mut().and_then(|s| s.remove("model"));
    let mut model = raw(model.as_ref()).map_err(no_json)?;
    let mut whole = raw(Some(&small)).map_err(no_json)?;
    model.insert("vocab".to_owned(), vocab.to_owned());
    if let Some(merges) = merges {
        model.insert("merges".to_owned(), pairs(merges)?);
    }
    whole.insert("model".to_owned(), to_raw_value(&model).map_err(no_json)?);
    let text = serde_json::to_string(&whole).map_err(no_json)?;
    Ok(CurrentFile { text, vocabulary_size, greatest_id })
}

/// Number of entries and greatest id of a vocabulary: ids by token, or a list in the order of ids.
fn vocabulary(vocab: &RawValue) -> Result<(u32, u32), serde_json::Error> {
    if vocab.get().starts_with('[') {
        let entries: Vec<&RawValue> = serde_json::from_str(vocab.get())?;
        let n = entries.len() as u32;
        return Ok((n, n.saturating_sub(1)));
    }
    let Ids { count, greatest } = serde_json::from_str(vocab.get())?;
    Ok((count, greatest))
}

/// The ids of a vocabulary, without its tokens.
#[derive(Default)]
struct Ids {
    count: u32,
    greatest: u32,
}

impl<'de> Deserialize<'de> for Ids {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ids, D::Error> {
        deserializer.deserialize_map(IdsVisitor)
    }
}

struct IdsVisitor;

impl<'de> Visitor<'de> for IdsVisitor {
    type Value = Ids;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object of ids by token")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Ids, A::Error> {
        let mut ids = Ids::default();
        while let Some((_, id)) = members.next_entry::<IgnoredAny, u32>()? {
            ids.count += 1;
            ids.greatest = ids.greatest.max(id);
        }
        Ok(ids)
    }
}

/// Merges as pairs. Older files write `"a b"`, and may begin with a `#version` line.
fn pairs(merges: &RawValue) -> Result<Box<RawValue>, String> {
    let text = merges.get();
    let first = text.trim_start_matches('[').trim_start();
    if !first.starts_with('"') {
        return Ok(merges.to_owned());
    }
    let lines: Vec<&RawValue> = serde_json::from_str(text).map_err(|e| format!("its merges are no list: {e}"))?;
    let mut pairs = String::with_capacity(text.len() + lines.len() * 4);
    for line in lines.iter().map(|line| line.get()).filter(|line| !line.starts_with("\"#version")) {
        // Still as written, escapes and all: a blank parts the tokens, so none is within them.
        match line.split_once(' ') {
            Some((a, b)) if !b.contains(' ') && line.starts_with('"') => {
                let before = if pairs.is_empty() { '[' } else { ',' };
                pairs.extend([before, '[']);
                pairs.extend([a, "\",\"", b, "]"]);
            }
            _ => return Err(format!("its merge {line} is no two tokens with a blank between")),
        }
    }
    pairs.push_str(if pairs.is_empty() { "[]" } else { "]" });
    RawValue::from_string(pairs).map_err(|e| e.to_string())
}

fn tree(object: &Object) -> Result<Map<String, Value>, serde_json::Error> {
    object.iter().map(|(k, v)| Ok((k.clone(), serde_json::from_str(v.get())?))).collect()
}

/// The members of an object, each as text.
fn raw(object: Option<&Value>) -> Result<BTreeMap<String, Box<RawValue>>, serde_json::Error> {
    // The conversion keeps objects what they are.
    let members = object.and_then(Value::as_object).into_iter().flatten();
    members.map(|(k, v)| Ok((k.clone(), to_raw_value(v)?))).collect()
}
