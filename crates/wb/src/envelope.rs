//! Whether an answer that came with a good status is one.

use serde_json::Value;
use waitless_job::Leave;

/// Characters of the upstream's words in an error.
const WORDS_CHARS_MAX: usize = 300;

/// Whether an answer without rows means that there are none. One that has nothing to do with rows
/// would end an import early.
pub(crate) fn check_envelope(endpoint: &str, path: &[&str], envelope: &Value) -> Result<(), Leave> {
    check_no_error(envelope)?;
    let mut place = envelope;
    for (depth, name) in path.iter().enumerate() {
        place = match place {
            // An empty list may be written as null, and what it is in as well; not all of it.
            Value::Null if depth > 0 => return Ok(()),
            _ => place.get(name).ok_or_else(|| Leave::Retry {
                error: format!("the answer of {endpoint} has no `{}` in it", path.join(".")),
            })?,
        };
    }
    Ok(())
}

/// Some services say 200 and mean an error.
pub(crate) fn check_no_error(envelope: &Value) -> Result<(), Leave> {
    if envelope.get("error") != Some(&Value::Bool(true)) {
        return Ok(());
    }
    let words = envelope.get("errorText").and_then(Value::as_str).unwrap_or("no words about it");
    let words: String = words.chars().take(WORDS_CHARS_MAX).collect();
    let error = format!("the upstream answered 200 with an error: {}", words.escape_debug());
    Err(Leave::Retry { error })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(envelope: Value) -> Result<(), String> {
        check_envelope("shop.list", &["data", "items"], &envelope).map_err(|leave| match leave {
            Leave::Retry { error } => error,
            other => panic!("not a retry: {other:?}"),
        })
    }

    #[test]
    fn no_rows_where_rows_belong_is_an_end_and_anything_else_is_tried_again() {
        for none in [
            json!({"data": {"items": []}}),
            json!({"data": {"items": null}}),
            json!({"data": null}),
        ] {
            assert_eq!(check(none), Ok(()));
        }
        for other in
            [json!({}), json!({"data": {}}), json!({"data": 7}), json!("closed"), json!(null)]
        {
            let error = check(other).unwrap_err();
            assert_eq!(error, "the answer of shop.list has no `data.items` in it");
        }
        let error = check(json!({"data": null, "error": true, "errorText": "Access denied\u{7}"}));
        let words = "the upstream answered 200 with an error: Access denied\\u{7}";
        assert_eq!(error.unwrap_err(), words);
        assert!(check(json!({"data": null, "error": "none", "errorText": 7})).is_ok());
    }
}
