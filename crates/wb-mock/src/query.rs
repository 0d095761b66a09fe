//! The query of a request.

use axum::extract;
use axum::http::Uri;

/// Parameters in the order in which they came, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Empty if it cannot be decoded.
    pub(crate) fn of(uri: &Uri) -> Self {
        Self(extract::Query::try_from_uri(uri).map(|extract::Query(all)| all).unwrap_or_default())
    }

    /// The first parameter of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Names and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_decoded_and_the_first_of_a_name_counts() {
        let query = Query::of(&Uri::from_static("/a?filter%5Bids%5D=x+y&n=1&n=2"));
        assert_eq!((query.get("filter[ids]"), query.get("n")), (Some("x y"), Some("1")));
        assert_eq!(query.get("m"), None);
    }
}
