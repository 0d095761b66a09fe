//! Paths with places to fill in: `/tasks/{task_id}/status`.

use std::fmt::Write;

/// A path cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the path `{path}` cannot be filled in: {problem}")]
pub struct PathError {
    /// The path with its places.
    pub path: String,
    /// What is wrong.
    pub problem: String,
}

/// The names of the places in a path, in order, or what is wrong with it.
pub(super) fn places(path: &str) -> Result<Vec<&str>, String> {
    let mut places = Vec::new();
    let mut rest = path;
    while let Some(at) = rest.find(['{', '}']) {
        let end = rest[at..].find('}').filter(|_| rest[at..].starts_with('{'));
        let Some(end) = end else {
            return Err("a brace has no partner".to_owned());
        };
        let name = &rest[at + 1..at + end];
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if name.is_empty() || !name.bytes().all(allowed) {
            return Err(format!("`{name}` is no name of a place: use A-Z a-z 0-9 _ -"));
        }
        if places.contains(&name) {
            return Err(format!("`{name}` is there twice"));
        }
        places.push(name);
        rest = &rest[at + end + 1..];
    }
    Ok(places)
}

/// The path with every place called the same, to find two that are one.
pub(super) fn shape(path: &str) -> String {
    let mut shape = String::with_capacity(path.len());
    let mut inside = false;
    for c in path.chars() {
        match c {
            '{' => inside = true,
            '}' => {
                inside = false;
                shape.push_str("{}");
            }
            _ if inside => {}
            c => shape.push(c),
        }
    }
    shape
}

/// The path with values in its places. A value stays one segment whatever is in it.
pub(super) fn fill(path: &str, values: &[(&str, &str)]) -> Result<String, PathError> {
    let error = |problem: String| PathError { path: path.to_owned(), problem };
    let places = places(path).map_err(error)?;
    if let Some((name, _)) = values.iter().find(|(name, _)| !places.contains(name)) {
        return Err(error(format!("it has no place `{name}`")));
    }
    let mut filled = path.to_owned();
    for place in places {
        let value = values.iter().find(|(name, _)| *name == place).map(|(_, value)| *value);
        let value = value.ok_or_else(|| error(format!("`{place}` has no value")))?;
        // A server would read these as other paths.
        if matches!(value, "" | "." | "..") {
            return Err(error(format!("`{value}` is no value of `{place}`")));
        }
        filled = filled.replacen(&format!("{{{place}}}"), &encoded(value), 1);
    }
    Ok(filled)
}

fn encoded(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("writing to a text does not fail");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_with_one_segment_each() {
        let path = "/tasks/{task_id}/files/{name}";
        let filled = fill(path, &[("name", "a/b?c"), ("task_id", "7-x")]).unwrap();
        assert_eq!(filled, "/tasks/7-x/files/a%2Fb%3Fc");
        assert_eq!(fill("/ping", &[]).unwrap(), "/ping");
    }

    #[test]
    fn a_value_too_few_or_too_many_is_named() {
        let problem = |values: &[(&str, &str)]| fill("/t/{id}", values).unwrap_err().problem;
        assert_eq!(problem(&[]), "`id` has no value");
        assert_eq!(problem(&[("id", "1"), ("ID", "1")]), "it has no place `ID`");
        assert_eq!(problem(&[("id", "..")]), "`..` is no value of `id`");
    }

    #[test]
    fn braces_must_make_sense() {
        for bad in ["/{", "/}", "/{}", "/{a b}", "/{a}/{a}", "/{a{b}}"] {
            assert!(places(bad).is_err(), "{bad}");
        }
        assert_eq!(shape("/a/{x}/b/{y}"), "/a/{}/b/{}");
    }
}
