//! The places of a frame's JSON that a plan takes, as a tree, so that a frame is parsed once and only
//! what is taken is built.

use bench_core::decode::Rule;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;

/// A node of the tree of pointers.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// Rules that take the value that stands here.
    rules: Vec<usize>,
    /// Below it, by key (of an object) or position (of an array).
    below: Vec<(String, Option<usize>, Place)>,
}

impl Place {
    /// The tree of these rules' pointers (RFC 6901).
    pub(super) fn tree(rules: &[Rule]) -> Place {
        let mut root = Place::default();
        for (i, rule) in rules.iter().enumerate() {
            let mut at = &mut root;
            for token in rule.pointer.split('/').skip(1) {
                let key = token.replace("~1", "/").replace("~0", "~");
                let found = at.below.iter().position(|(k, ..)| *k == key);
                let slot = found.unwrap_or_else(|| {
                    let position = key.parse().ok();
                    at.below.push((key, position, Place::default()));
                    at.below.len() - 1
                });
                at = &mut at.below[slot].2;
            }
            at.rules.push(i);
        }
        root
    }

    /// Parses a frame and hands over what stands in it, in its order.
    pub(super) fn read(&self, frame: &[u8], take: &mut Taker<'_>) -> Result<(), serde_json::Error> {
        let mut json = serde_json::Deserializer::from_slice(frame);
        Walk { place: self, take }.deserialize(&mut json)?;
        json.end()
    }

    fn take_value(&self, value: &Value, take: &mut Taker<'_>) {
        for &rule in &self.rules {
            take(Found::Taken(rule, value, None));
        }
        for (key, position, place) in &self.below {
            let inner = match value {
                Value::Object(o) => o.get(key),
                Value::Array(a) => position.and_then(|p| a.get(p)),
                _ => None,
            };
            if let Some(inner) = inner {
                place.take_value(inner, take);
            }
        }
    }
}

/// What stands in a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'v> {
    /// The value of a rule, and its text in the frame where no other rule goes below it.
    Taken(usize, &'v Value, Option<&'v str>),
    /// The text of a value that no rule takes.
    Ignored(&'v str),
}

/// Takes what was found.
pub(super) type Taker<'a> = dyn FnMut(Found<'_>) + 'a;

struct Walk<'a, 't> {
    place: &'a Place,
    take: &'a mut Taker<'t>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        if self.place.rules.is_empty() {
            return json.deserialize_any(self);
        }
        if self.place.below.is_empty() {
            let raw = <&RawValue>::deserialize(json)?;
            let value = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
            for &rule in &self.place.rules {
                (self.take)(Found::Taken(rule, &value, Some(raw.get())));
            }
            return Ok(());
        }
        let value = Value::deserialize(json)?;
        self.place.take_value(&value, self.take);
        Ok(())
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(below) = map.next_key_seed(Key(self.place))? {
            match below {
                Some(place) => map.next_value_seed(Walk { place, take: self.take })?,
                None => (self.take)(Found::Ignored(map.next_value::<&RawValue>()?.get())),
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        for position in 0.. {
            let place = self.place.below.iter().find(|(_, p, _)| *p == Some(position)).map(|(.., place)| place);
            let more = match place {
                Some(place) => seq.next_element_seed(Walk { place, take: self.take })?.is_some(),
                None => seq.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

struct Key<'a>(&'a Place);

impl<'de, 'a> DeserializeSeed<'de> for Key<'a> {
    type Value = Option<&'a Place>;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        key.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for Key<'a> {
    type Value = Option<&'a Place>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.below.iter().find(|(k, ..)| k == key).map(|(.., place)| place))
    }
}
