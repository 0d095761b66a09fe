//! Natural keys out of rows.

use std::collections::{BTreeMap, HashMap};

use serde_json::value::RawValue;

/// Longest part of a key in bytes. Ids and names are far shorter; what is longer is no key.
const PART_BYTES_MAX: usize = 512;

/// The fields of a row, each still raw, so that one of an odd type does not spoil the others.
#[derive(Debug)]
pub(crate) struct Fields<'a>(HashMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    /// # Errors
    /// In words for the quarantine, if the row is no JSON object.
    pub(crate) fn of(row: &'a RawValue) -> Result<Self, String> {
        let fields = serde_json::from_str(row.get());
        fields.map(Self).map_err(|error| format!("it is no row: {error}"))
    }

    /// The field at a path such as `product.nmId`.
    pub(crate) fn get(&self, path: &str) -> Option<&'a RawValue> {
        match path.split_once('.') {
            None => self.0.get(path).copied(),
            Some((first, rest)) => Self::of(self.0.get(first)?).ok()?.get(rest),
        }
    }

    /// The plain text of a scalar: 17 and `"17"` are the same.
    ///
    /// # Errors
    /// In words for the quarantine, which name the field.
    pub(crate) fn text(&self, path: &str) -> Result<String, String> {
        let raw = self.get(path).ok_or_else(|| format!("no `{path}`"))?;
        let text = scalar(raw.get()).map_err(|problem| format!("`{path}` {problem}"))?;
        if text.len() > PART_BYTES_MAX {
            return Err(format!("`{path}` has more than {PART_BYTES_MAX} bytes"));
        }
        Ok(text)
    }

    /// The same, but for an empty text.
    ///
    /// # Errors
    /// In words for the quarantine, which name the field.
    pub(crate) fn filled(&self, path: &str) -> Result<String, String> {
        let text = self.text(path)?;
        if text.is_empty() { Err(format!("`{path}` is empty")) } else { Ok(text) }
    }

    /// The same; `None` for a field that is missing, null or empty.
    ///
    /// # Errors
    /// In words for the quarantine, which name the field.
    pub(crate) fn filled_if_any(&self, path: &str) -> Result<Option<String>, String> {
        match self.get(path).map(RawValue::get) {
            None | Some("null" | "\"\"") => Ok(None),
            Some(_) => self.filled(path).map(Some),
        }
    }

    /// The elements of a list.
    ///
    /// # Errors
    /// In words for the quarantine, which name the field.
    pub(crate) fn list(&self, path: &str) -> Result<Vec<&'a RawValue>, String> {
        let raw = self.get(path).ok_or_else(|| format!("no `{path}`"))?;
        serde_json::from_str(raw.get()).map_err(|_| format!("`{path}` is no list"))
    }

    /// A row made of these fields of this one and all fields of another, which win.
    ///
    /// # Errors
    /// In words for the quarantine, if the other is no JSON object.
    pub(crate) fn with(
        &self,
        inherited: &[&str],
        other: &'a RawValue,
    ) -> Result<Box<RawValue>, String> {
        let other = Fields::of(other)?;
        // In the order of the names, so that the same row is the same text each time.
        let mut fields: BTreeMap<&str, &RawValue> =
            other.0.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        for name in inherited {
            if let Some(value) = self.0.get(*name) {
                fields.entry(name).or_insert(value);
            }
        }
        serde_json::value::to_raw_value(&fields).map_err(|error| error.to_string())
    }
}

/// What a row of a dataset is known by: fields of it, joined by `/`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    /// Stands in front, for datasets of several kinds of rows; empty for none.
    pub(crate) prefix: &'static str,
    pub(crate) parts: &'static [Part],
}

/// A part of a key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    path: &'static str,
    may_be_empty: bool,
}

/// A field that no row lacks.
pub(crate) const fn part(path: &'static str) -> Part {
    Part { path, may_be_empty: false }
}

/// A field that is an empty text where it does not apply, as the barcode of a pallet.
pub(crate) const fn part_or_empty(path: &'static str) -> Part {
    Part { path, may_be_empty: true }
}

impl Key {
    pub(crate) const fn of(parts: &'static [Part]) -> Self {
        Self { prefix: "", parts }
    }

    /// The key of a row.
    ///
    /// # Errors
    /// In words for the quarantine, which name the first field that is of no use.
    pub(crate) fn read(&self, fields: &Fields<'_>) -> Result<String, String> {
        let mut key = String::from(self.prefix);
        for (place, part) in self.parts.iter().enumerate() {
            let text = if part.may_be_empty {
                fields.text(part.path)?
            } else {
                fields.filled(part.path)?
            };
            if place > 0 || !self.prefix.is_empty() {
                key.push('/');
            }
            key.push_str(&text);
        }
        Ok(key)
    }
}

/// The plain text of a JSON text or whole number.
fn scalar(raw: &str) -> Result<String, &'static str> {
    match raw.as_bytes().first() {
        Some(b'"') => serde_json::from_str(raw).map_err(|_| "is no valid text"),
        Some(b'n') => Err("is null"),
        Some(b't' | b'f') => Err("is true or false"),
        Some(b'[') => Err("is a list"),
        Some(b'{') => Err("is an object"),
        _ => whole_number(raw),
    }
}

/// Digits stay as they are, however many; `17.0` and `1.7e1` are 17.
fn whole_number(raw: &str) -> Result<String, &'static str> {
    /// Beyond it not every whole number has a float of its own.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(if digits == "0" { digits } else { raw }.to_owned());
    }
    match raw.parse::<f64>() {
        Ok(number) if number.fract() == 0.0 && number.abs() <= EXACT_MAX => {
            // The sign of a zero says nothing.
            Ok(format!("{:.0}", number + 0.0))
        }
        _ => Err("is no whole number"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: Key = Key::of(&[part("a"), part_or_empty("b"), part("c.d")]);

    fn key(row: &str) -> Result<String, String> {
        let row = RawValue::from_string(row.to_owned()).expect("it is JSON");
        KEY.read(&Fields::of(&row)?)
    }

    #[test]
    fn parts_are_the_plain_texts_of_texts_and_whole_numbers() {
        assert_eq!(key(r#"{"a":1,"b":"x","c":{"d":"2"}}"#).unwrap(), "1/x/2");
        assert_eq!(key(r#"{"a":"1","b":"","c":{"d":2.0},"e":[{}]}"#).unwrap(), "1//2");
        assert_eq!(key(r#"{"a":-7,"b":-0,"c":{"d":1.5e3}}"#).unwrap(), "-7/0/1500");
        let huge = "9".repeat(40);
        assert_eq!(
            key(&format!(r#"{{"a":{huge},"b":"","c":{{"d":-0.0}}}}"#)).unwrap(),
            format!("{huge}//0")
        );
        const PREFIXED: Key = Key { prefix: "box", parts: &[part("a")] };
        let row = RawValue::from_string(r#"{"a":"x"}"#.to_owned()).unwrap();
        assert_eq!(PREFIXED.read(&Fields::of(&row).unwrap()).unwrap(), "box/x");
    }

    #[test]
    fn what_is_no_key_is_named_with_its_field() {
        let rest = r#""b":"","c":{"d":1}"#;
        for (value, problem) in [
            ("null", "`a` is null"),
            ("true", "`a` is true or false"),
            ("[1]", "`a` is a list"),
            ("{}", "`a` is an object"),
            ("\"\"", "`a` is empty"),
            ("1.5", "`a` is no whole number"),
            ("1e400", "`a` is no whole number"),
            ("1e16", "`a` is no whole number"),
            ("\"\\ud800\"", "`a` is no valid text"),
        ] {
            assert_eq!(key(&format!("{{\"a\":{value},{rest}}}")).unwrap_err(), problem);
        }
        assert_eq!(key(r#"{"b":""}"#).unwrap_err(), "no `a`");
        assert_eq!(key(r#"{"a":1,"b":"","c":7}"#).unwrap_err(), "no `c.d`");
        assert_eq!(key(r#"{"a":1,"b":"","c":{"d":null}}"#).unwrap_err(), "`c.d` is null");
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(PART_BYTES_MAX + 1));
        assert_eq!(key(&long).unwrap_err(), "`a` has more than 512 bytes");
        for no_row in ["17", "null", "[]", "\"a\""] {
            assert!(key(no_row).unwrap_err().starts_with("it is no row: "), "{no_row}");
        }
    }

    #[test]
    fn an_inherited_field_does_not_replace_one_of_the_same_name() {
        let outer = RawValue::from_string(r#"{"id":1,"views":9,"days":[]}"#.to_owned()).unwrap();
        let inner = RawValue::from_string(r#"{"views":2,"date":"d"}"#.to_owned()).unwrap();
        let row = Fields::of(&outer).unwrap().with(&["id", "views", "none"], &inner).unwrap();
        assert_eq!(row.get(), r#"{"date":"d","id":1,"views":2}"#);
    }

    proptest! {
        #[test]
        fn a_number_and_its_text_are_one_key(number in any::<i64>()) {
            let text = scalar(&format!("\"{number}\"")).unwrap();
            prop_assert_eq!(scalar(&number.to_string()).unwrap(), text);
        }

        #[test]
        fn no_json_makes_it_panic(row in "[\\[\\]{}\",:0-9eE.\\-a-c ]{0,40}") {
            if let Ok(row) = RawValue::from_string(row) {
                let _ = Fields::of(&row).map(|fields| KEY.read(&fields));
            }
        }
    }
}
