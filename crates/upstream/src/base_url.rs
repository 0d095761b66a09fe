use std::{fmt, str::FromStr};

use reqwest::Url;

/// Where an upstream is: scheme, host, port, and perhaps a path in front of all of its paths.
///
/// ```
/// use waitless_upstream::BaseUrl;
///
/// let local: BaseUrl = "http://127.0.0.1:8080/".parse()?;
/// assert_eq!(local.to_string(), "http://127.0.0.1:8080");
/// assert!("ftp://example.org".parse::<BaseUrl>().is_err());
/// # Ok::<(), waitless_upstream::BaseUrlError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BaseUrl(Url);

/// Why a text is no base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is no base URL: {problem}; write it like `https://api.example.org`")]
pub struct BaseUrlError {
    /// The text without what may be secret in it: user, password, query.
    pub shown: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl BaseUrl {
    /// The URL of a path below it. The path begins with a slash and is taken as it is.
    #[must_use]
    pub fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}{path}", self.0.path().trim_end_matches('/')));
        url
    }
}

impl FromStr for BaseUrl {
    type Err = BaseUrlError;

    /// # Errors
    /// [`BaseUrlError`] unless it is `http` or `https` with a host and without user, password,
    /// query and fragment.
    fn from_str(text: &str) -> Result<Self, BaseUrlError> {
        let error = |problem| BaseUrlError { shown: without_secrets(text), problem };
        let url = Url::parse(text).map_err(|_| error("it cannot be read as a URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(error("its scheme must be http or https"));
        }
        if !url.has_host() {
            return Err(error("it has no host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(error("it has a user or a password: credentials are given apart"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(error("it has a query or a fragment"));
        }
        Ok(Self(url))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

/// What may be shown of a text that was meant as a URL and need not be one.
fn without_secrets(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or("");
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let shown = if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") };
    shown.chars().filter(|c| !c.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        text.parse::<BaseUrl>().unwrap_err().to_string()
    }

    #[test]
    fn a_path_in_front_of_all_paths_is_kept() {
        let base: BaseUrl = "https://gateway.example.org/wb/".parse().unwrap();
        assert_eq!(base.join("/api/v1/x").as_str(), "https://gateway.example.org/wb/api/v1/x");
        assert_eq!(base.to_string(), "https://gateway.example.org/wb");
    }

    #[test]
    fn each_way_to_be_wrong_is_told_and_no_secret_with_it() {
        assert!(problem("file:///etc/passwd").contains("http or https"));
        assert!(problem("api.example.org").contains("cannot be read"));
        for text in ["https://me:hunter2@example.org", "https://example.org/?key=hunter2"] {
            let problem = problem(text);
            assert!(problem.contains("example.org") && !problem.contains("hunter2"), "{problem}");
        }
    }
}
