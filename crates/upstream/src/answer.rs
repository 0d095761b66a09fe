use std::fmt;

use serde::de::DeserializeOwned;

use crate::{
    Rows, UpstreamError,
    body::Body,
    excerpt::{BEGINNING_CHARS, MESSAGE_CHARS, printable},
};

/// An answer with a status of success, before its body is read. Dropping it hangs up.
pub struct Answer {
    status: u16,
    body: Body,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("status", &self.status)
            .field("url", &self.body.url)
            .finish_non_exhaustive()
    }
}

/// No content: the upstream's way to say that there are no rows.
const NO_CONTENT: u16 = 204;

impl Answer {
    pub(crate) fn new(status: u16, body: Body) -> Self {
        Self { status, body }
    }

    /// The status code, 200 to 299.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The body as rows of a JSON array. An answer with the status 204 has none, nor has `null`,
    /// which is how some servers write an empty list.
    #[must_use]
    pub fn rows(self) -> Rows {
        self.rows_at(&[])
    }

    /// The body as rows of the array that these keys lead to, from the outermost object inwards:
    /// `["data", "items"]` for `{"data":{"items":[..]}}`. There are none if a key is missing or its
    /// value is null, and none with the status 204. What stands around them is in
    /// [`Rows::envelope`] when they are over, and may have [`ENVELOPE_BYTES_MAX`] bytes.
    ///
    /// [`ENVELOPE_BYTES_MAX`]: crate::ENVELOPE_BYTES_MAX
    #[must_use]
    pub fn rows_at(self, path: &'static [&'static str]) -> Rows {
        if self.status == NO_CONTENT { Rows::none(self.body) } else { Rows::new(self.body, path) }
    }

    /// The body as one JSON value, of at most `bytes_max` bytes.
    ///
    /// # Errors
    /// [`UpstreamError::Unreadable`] if it is no such value (a 204 has none at all),
    /// [`UpstreamError::NotJson`] if it looks like HTML, else as [`Answer::bytes`].
    pub async fn json<T: DeserializeOwned>(self, bytes_max: u64) -> Result<T, UpstreamError> {
        let (url, credential) = (self.body.url.clone(), self.body.credential.clone());
        let bytes = self.bytes(bytes_max).await?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let beginning = String::from_utf8_lossy(&bytes);
            let is_page = beginning.trim_start().starts_with('<');
            let beginning = printable(&beginning, &credential, BEGINNING_CHARS);
            if is_page {
                return UpstreamError::NotJson { url, content_type: "HTML".to_owned(), beginning };
            }
            // It may quote the body.
            let problem = printable(&error.to_string(), &credential, MESSAGE_CHARS);
            UpstreamError::Unreadable { url, problem, beginning }
        })
    }

    /// The whole body, of at most `bytes_max` bytes.
    ///
    /// # Errors
    /// [`UpstreamError::Cut`], [`UpstreamError::TimedOut`], [`UpstreamError::BodyTooLarge`].
    pub async fn bytes(mut self, bytes_max: u64) -> Result<Vec<u8>, UpstreamError> {
        self.body.lower_bytes_max(bytes_max);
        let mut bytes = Vec::new();
        while let Some(piece) = self.body.next().await? {
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }
}
