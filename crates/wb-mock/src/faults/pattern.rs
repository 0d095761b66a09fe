//! Patterns of methods.

use serde::Deserialize;

use crate::Method;

/// A path, or a verb and a path, with `*` for any text: `POST /api/v2/*`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(super) struct Pattern(String);

impl Pattern {
    pub(super) fn is(&self, method: &Method) -> bool {
        let with_verb = format!("{} {}", method.verb.name(), method.path);
        matches(&self.0, method.path) || matches(&self.0, &with_verb)
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == text };
    let Some(rest) = text.strip_prefix(before) else { return false };
    (0..=rest.len()).any(|n| rest.is_char_boundary(n) && matches(after, &rest[n..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Dataset};

    #[test]
    fn a_star_stands_for_any_text() {
        let method = Method::of(Dataset::Remains, Call::Status);
        for good in ["*", method.path, "GET *", "*/status", "/api/*/tasks/*", "GET /api/v1/w*"] {
            assert!(Pattern(good.to_owned()).is(method), "{good}");
        }
        for bad in ["", "/api", "POST *", "*/download", "tasks"] {
            assert!(!Pattern(bad.to_owned()).is(method), "{bad}");
        }
    }
}
