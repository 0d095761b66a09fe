use std::fmt;

use crate::{Rows, body::Body};

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

    /// The body as rows of a JSON array. An answer with the status 204 has none.
    #[must_use]
    pub fn rows(self) -> Rows {
        if self.status == NO_CONTENT { Rows::none(self.body) } else { Rows::new(self.body) }
    }
}
