//! What must hold of whatever an upstream sends, for any bytes at all. The targets in `fuzz` call
//! these with bytes that they make up; an ordinary test, with those that are kept in `fuzz/corpus`.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::{
    Credential, Hints, RetryHint, RetryUnit, RowsError, Secret,
    excerpt::{self, MESSAGE_CHARS},
    splitter::Splitter,
    whole::whole,
};

/// Headers that speak of limits, a value a line: the first says what is left, the others say in turn
/// how many seconds and how many milliseconds to wait.
///
/// # Panics
/// If a number comes out that is not there, or one that is there does not.
pub fn headers(data: &[u8]) {
    const LEFT: HeaderName = HeaderName::from_static("x-left");
    const WAIT: HeaderName = HeaderName::from_static("x-wait");
    const WAIT_MS: HeaderName = HeaderName::from_static("x-wait-ms");
    let hints = Hints {
        remaining: Some(LEFT),
        retry: vec![
            RetryHint { header: WAIT, unit: RetryUnit::Seconds },
            RetryHint { header: WAIT_MS, unit: RetryUnit::Milliseconds },
        ],
        refused_is_charged: false,
        message_fields: Vec::new(),
    };
    let (mut headers, mut remaining, mut longest_ms) = (HeaderMap::new(), None, None);
    for (at, line) in data.split(|byte| *byte == b'\n').enumerate() {
        let Ok(value) = HeaderValue::from_bytes(line) else { continue };
        let number = value.to_str().ok().and_then(|text| number(text.trim()));
        if at == 0 {
            let is_whole = !line.contains(&b'.');
            remaining = number.filter(|number| is_whole && *number <= f64::from(u32::MAX));
            headers.insert(LEFT, value);
            continue;
        }
        let (name, unit_ms) = if at % 2 == 1 { (WAIT, 1_000.0) } else { (WAIT_MS, 1.0) };
        longest_ms =
            number.map(|number| number * unit_ms).into_iter().chain(longest_ms).reduce(f64::max);
        headers.append(name, value);
    }
    assert_eq!(hints.remaining(&headers).map(f64::from), remaining);
    let found = hints.retry_ms(&headers);
    assert_eq!(found.is_some(), longest_ms.is_some());
    if let (Some(found), Some(longest)) = (found, longest_ms) {
        let longest = longest.min(u64::MAX as f64);
        // Rounded up, and a double is not exact.
        let slip = 1.0 + longest / 1e15;
        assert!((found as f64 - longest).abs() <= slip, "{found} ms for {longest}");
    }
}

/// Digits, perhaps with a point and more digits: nothing else is a number here.
fn number(text: &str) -> Option<f64> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_number = match text.split_once('.') {
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
        None => is_digits(text),
    };
    is_number.then(|| text.parse().expect("it is a number"))
}

/// A body with rows in it. Two bytes in front of it say where the rows are, and in which pieces the
/// body comes.
///
/// # Panics
/// If other rows come out than `serde_json` finds, or another rest.
pub fn rows(data: &[u8]) {
    const PATHS: [&[&str]; 3] = [&[], &["a"], &["data", "items"]];
    let [place, pieces, body @ ..] = data else { return };
    let path = PATHS[usize::from(*place) % PATHS.len()];
    let pieces = [usize::from(*pieces % 16) + 1, usize::from(*pieces / 16) + 1];
    let found = split(path, body, &pieces);
    if let Err(RowsError::InvalidEnvelope { problem, .. }) = &found
        && problem.contains("recursion limit")
    {
        // Counted from another place.
        return;
    }
    assert_eq!(found.ok(), whole(path, body));
}

/// The rows of a body that arrives in pieces of these lengths, over and over, and the rest of it.
pub(crate) fn split(
    path: &'static [&'static str],
    body: &[u8],
    lengths: &[usize],
) -> Result<(Vec<String>, serde_json::Value), RowsError> {
    let (mut splitter, mut rows) = (Splitter::new(path), Vec::new());
    let mut rest = body;
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, behind) = rest.split_at((*length).clamp(1, rest.len()));
        splitter.push(piece, &mut |row| rows.push(row.get().to_owned()))?;
        rest = behind;
    }
    Ok((rows, splitter.finish()?))
}

/// The body of an error.
///
/// # Panics
/// If its message is empty, too long, has control characters or the credential.
pub fn error_body(data: &[u8]) {
    const SECRET: &str = "s3cret";
    let credential = Credential::new(Secret::new(SECRET), "any");
    let fields = ["detail", "errors", "message"].map(str::to_owned);
    let message = excerpt::message(data, &fields, &credential);
    assert!(message.chars().count() <= MESSAGE_CHARS + 1, "{message}");
    assert!(!message.chars().any(char::is_control), "{message:?}");
    assert!(!message.contains(SECRET), "{message}");
    assert!(!message.is_empty());
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    /// Calls a check with every file that is kept for it.
    fn replay(target: &str, check: fn(&[u8])) {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
        let mut files = 0;
        for file in fs::read_dir(corpus).expect("the corpus is in the repository") {
            let path = file.expect("it can be listed").path();
            check(&fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
            files += 1;
        }
        assert!(files > 0);
    }

    #[test]
    fn what_is_kept_of_headers_is_read_right() {
        replay("headers", super::headers);
    }

    #[test]
    fn what_is_kept_of_bodies_is_split_right() {
        replay("rows", super::rows);
    }

    #[test]
    fn what_is_kept_of_error_bodies_is_shown_safely() {
        replay("error_body", super::error_body);
    }
}
