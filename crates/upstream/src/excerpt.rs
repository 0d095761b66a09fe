//! What of an upstream's words gets into our error texts.

use crate::Credential;

/// Characters of a body's beginning that an error shows.
pub(crate) const BEGINNING_CHARS: usize = 80;

/// Characters of an upstream's message that an error shows.
pub(crate) const MESSAGE_CHARS: usize = 300;

/// At most `chars_max` printable characters of a text, without the credential. White space in a row
/// becomes one space: error texts are read in one line, and control characters could rewrite the
/// terminal that shows them.
///
/// Redacted before it is cut, because a cut could leave half of the credential standing, and after
/// what cannot be shown was left out, because that may have stood in the middle of it.
pub(crate) fn printable(text: &str, credential: &Credential, chars_max: usize) -> String {
    let mut whole = String::new();
    for c in text.trim().chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        let skip = c.is_control() || c == '\u{fffd}' || (c == ' ' && whole.ends_with(' '));
        if !skip {
            whole.push(c);
        }
    }
    let mut shown = credential.redact(&whole);
    if let Some((end, _)) = shown.char_indices().nth(chars_max) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

/// The upstream's own words in an error body: the first of `fields` that is a text, or a list of
/// texts, at the top of a JSON object; else the beginning of the body.
pub(crate) fn message(body: &[u8], fields: &[String], credential: &Credential) -> String {
    let text = String::from_utf8_lossy(body);
    let json: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let named = json.as_ref().and_then(|json| {
        fields.iter().find_map(|field| match json.get(field)? {
            serde_json::Value::String(text) if !text.is_empty() => Some(text.clone()),
            serde_json::Value::Array(items) => {
                let texts: Vec<&str> = items.iter().filter_map(|item| item.as_str()).collect();
                (!texts.is_empty()).then(|| texts.join("; "))
            }
            _ => None,
        })
    });
    let shown = match named {
        Some(named) => printable(&named, credential, MESSAGE_CHARS),
        None => printable(&text, credential, BEGINNING_CHARS),
    };
    if shown.is_empty() { "no message".to_owned() } else { shown }
}

/// An error of the HTTP library and its causes in one line, without the URL (which has the query in
/// it) and without the credential.
pub(crate) fn causes(error: reqwest::Error, credential: &Credential) -> String {
    let text = waitless_job::with_causes(&error.without_url());
    printable(&text, credential, MESSAGE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;

    fn credential() -> Credential {
        Credential::new(Secret::new("s3cret"), "any")
    }

    #[test]
    fn an_excerpt_is_one_printable_line_without_the_credential() {
        let secret = credential();
        let text = "  <h1>\x1b[31m Hello\n\n s3cret</h1>";
        assert_eq!(printable(text, &secret, 80), "<h1>[31m Hello [redacted]</h1>");
        assert_eq!(printable("s3cret", &secret, 4), "[red…");
        // What is left out must not put it together again.
        assert_eq!(printable("s3\0cr\u{fffd}et", &secret, 80), "[redacted]");
    }

    #[test]
    fn a_message_is_found_as_a_text_or_a_list_of_texts_or_is_the_beginning() {
        let secret = credential();
        let fields = ["detail", "errors"].map(str::to_owned);
        let message = |body: &str| message(body.as_bytes(), &fields, &secret);
        assert_eq!(message(r#"{"title":"t","detail":"too s3cret"}"#), "too [redacted]");
        assert_eq!(message(r#"{"errors":["a","b"]}"#), "a; b");
        assert_eq!(message(r#"{"errors":"dateFrom: not valid"}"#), "dateFrom: not valid");
        assert_eq!(message("<html>gone"), "<html>gone");
        assert_eq!(message(""), "no message");
        assert_eq!(message("\0\0"), "no message");
        assert_eq!(message(r#"{"detail":"\u0000","errors":["\u0000"]}"#), "no message");
    }
}
