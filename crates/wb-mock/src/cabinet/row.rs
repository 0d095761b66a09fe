//! Rows that a client must end up with.

use serde_json::Value;

use crate::ExpectedRow;

/// A row whose key is in those of its fields (JSON pointers without the first slash), and that does
/// not say when it was changed.
pub(crate) fn keyed(row: &Value, fields: &[&str]) -> ExpectedRow {
    let parts: Vec<String> = fields
        .iter()
        .map(|field| plain(row.pointer(&format!("/{field}")).unwrap_or(&Value::Null)))
        .collect();
    ExpectedRow { key: parts.join("/"), version: String::new(), body: row.to_string() }
}

/// The same with a version, which is in that field.
pub(crate) fn versioned(row: &Value, fields: &[&str], version: &str) -> ExpectedRow {
    ExpectedRow { version: plain(&row[version]), ..keyed(row, fields) }
}

/// One object of the fields of several. `json!` cannot hold the longest rows in one piece.
pub(crate) fn merged<const N: usize>(parts: [Value; N]) -> Value {
    let maps = parts.into_iter().filter_map(|part| match part {
        Value::Object(map) => Some(map),
        _ => None,
    });
    Value::Object(maps.flatten().collect())
}

/// An amount as a number that has a point only if it needs one.
pub(crate) fn hundredths(amount: u64) -> Value {
    if amount.is_multiple_of(100) { (amount / 100).into() } else { (amount as f64 / 100.0).into() }
}

/// A scalar as text, without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
