use std::{fmt, sync::Arc};

/// A shorter beginning of a credential gives nothing away, and ends many an innocent text.
const BEGINNING_BYTES_MIN: usize = 4;

/// A credential. It has no `Display` and no `Serialize`, and its `Debug` shows nothing of it, so
/// that it can get into no log, payload or page by accident.
///
/// ```
/// use waitless_upstream::Secret;
///
/// let token = Secret::new("abc123");
/// assert_eq!(format!("{token:?}"), "Secret(..)");
/// assert_eq!(token.redact("token abc123 is malformed"), "token [redacted] is malformed");
/// assert_eq!(token.redact("malformed: abc12"), "malformed: [redacted]");
/// ```
#[derive(Clone)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Takes a credential.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The credential itself, for the header that carries it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The text with every occurrence of the credential blotted out: upstreams quote what they
    /// were sent. So is a beginning of it at the end of the text, which may have been cut there.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let mut redacted = text.replace(&*self.0, "[redacted]");
        let beginnings = (BEGINNING_BYTES_MIN..self.0.len()).rev();
        let cut = beginnings
            .filter_map(|length| self.0.get(..length))
            .find(|beginning| redacted.ends_with(beginning));
        if let Some(beginning) = cut {
            redacted.truncate(redacted.len() - beginning.len());
            redacted.push_str("[redacted]");
        }
        redacted
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}
