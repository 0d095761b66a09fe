//! What a splitter must find, by parsing the whole body: slow, plain, and by other means.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

/// The rows at a path and the rest, or `None` where a splitter must err. For tests only.
pub(crate) fn whole(path: &[&str], body: &[u8]) -> Option<(Vec<String>, Value)> {
    let mut rows = Vec::new();
    let envelope = take(path, serde_json::from_slice(body).ok()?, &mut rows)?;
    Some((rows, if path.is_empty() { Value::Null } else { envelope }))
}

/// The value with its rows moved to `rows`.
fn take(path: &[&str], value: &RawValue, rows: &mut Vec<String>) -> Option<Value> {
    if value.get() == "null" {
        return Some(Value::Null);
    }
    let Some((key, inner)) = path.split_first() else {
        let found: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
        rows.extend(found.iter().map(|row| row.get().to_owned()));
        return Some(Value::Array(Vec::new()));
    };
    let Pairs(pairs) = serde_json::from_str(value.get()).ok()?;
    if pairs.iter().filter(|(name, _)| name == key).count() > 1 {
        return None;
    }
    let mut object = Map::new();
    for (name, value) in pairs {
        let value = match name == *key {
            true => take(inner, value, rows)?,
            false => serde_json::from_str(value.get()).ok()?,
        };
        object.insert(name, value);
    }
    Some(Value::Object(object))
}

/// An object with whatever is in it twice.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
