use waitless_job::{Leave, LimitGroup, StalePermit};

use crate::{BaseUrlError, PathError, RowsError, UnknownFamily};

/// Why there is no answer to work with, or why it ended too early.
///
/// The texts name the URL without its query and never the credential.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpstreamError {
    /// The HTTP client could not be made.
    #[error("cannot make an HTTP client: {0}")]
    Setup(#[source] reqwest::Error),
    /// The base URL is none.
    #[error(transparent)]
    BaseUrl(#[from] BaseUrlError),
    /// The catalogue has no such endpoint.
    #[error("no endpoint `{name}` in the catalogue of {upstream}; it has {known}")]
    UnknownEndpoint {
        /// The endpoint asked for.
        name: String,
        /// The catalogue's upstream.
        upstream: String,
        /// All endpoints there are.
        known: String,
    },
    /// The catalogue has no such family of credentials.
    #[error(transparent)]
    UnknownFamily(#[from] UnknownFamily),
    /// Credentials of this family may not call the endpoint.
    #[error(
        "{upstream} lets no `{family}` credential call `{endpoint}`: use a credential of another \
         family"
    )]
    Closed {
        /// The catalogue's upstream.
        upstream: String,
        /// The endpoint asked for.
        endpoint: String,
        /// The credential's family.
        family: String,
    },
    /// The credential has characters that no header may have.
    #[error("the credential has characters that no HTTP header may have: give it again, whole")]
    UnfitCredential,
    /// Credentials of this family are only good with a client secret, and there is none.
    #[error(
        "a `{family}` credential is only good with a client secret in the header {header}: give it \
         together with the credential"
    )]
    NoClientSecret {
        /// The credential's family.
        family: String,
        /// The header it would go into.
        header: String,
    },
    /// The places of the path were not given the values they need.
    #[error(transparent)]
    Path(#[from] PathError),
    /// 429: too many requests. The bucket is closed already.
    #[error("{url} refused the request for its rate (429): {message}; bucket `{group}` is closed")]
    RateLimited {
        /// Which URL.
        url: String,
        /// Whose bucket.
        group: LimitGroup,
        /// The upstream's words.
        message: String,
    },
    /// 401, 402 or 403: the credential is no good, is not paid for, or is good for something else.
    #[error(
        "{url} does not let the credential in ({status}): {message}; {}, then resume \
         the account",
        remedy(*status)
    )]
    NotLetIn {
        /// Which URL.
        url: String,
        /// Status code.
        status: u16,
        /// The upstream's words.
        message: String,
        /// The limits that there is no use in asking for until somebody has acted: those of the
        /// endpoint's category.
        groups: Vec<LimitGroup>,
    },
    /// Another 4xx, and no page for people: the request is wrong, and would be wrong again.
    #[error("{url} refuses the request ({status}): {message}")]
    BadRequest {
        /// Which URL.
        url: String,
        /// Status code.
        status: u16,
        /// The upstream's words.
        message: String,
    },
    /// 5xx, a status that says the upstream gave up waiting, or another 4xx with a page for people.
    #[error("{url} failed ({status}): {message}")]
    Server {
        /// Which URL.
        url: String,
        /// Status code.
        status: u16,
        /// The upstream's words.
        message: String,
    },
    /// 3xx. Redirects are not followed, because the credential would travel along.
    #[error(
        "{url} redirects ({status}) to {to}, which is not followed: correct the base URL if the \
         upstream has moved"
    )]
    Redirected {
        /// Which URL.
        url: String,
        /// Status code.
        status: u16,
        /// Scheme, host and path it points to.
        to: String,
    },
    /// A status that is none of these.
    #[error("{url} answers with the unexpected status {status}")]
    UnexpectedStatus {
        /// Which URL.
        url: String,
        /// Status code.
        status: u16,
    },
    /// Nothing came for too long.
    #[error("{url} took longer than {timeout_ms} ms {phase}")]
    TimedOut {
        /// Which URL.
        url: String,
        /// For what.
        phase: Phase,
        /// The limit in milliseconds.
        timeout_ms: u64,
    },
    /// No connection, or one that ended before the answer began.
    #[error("{url} cannot be reached: {reason}")]
    Unreachable {
        /// Which URL.
        url: String,
        /// What the network said.
        reason: String,
    },
    /// The body ended before its end, or could not be decompressed.
    #[error("the answer of {url} was cut off after {bytes} bytes: {reason}")]
    Cut {
        /// Which URL.
        url: String,
        /// Bytes that came, after decompression.
        bytes: u64,
        /// What the network or the decompression said.
        reason: String,
    },
    /// The body is larger than the client may take.
    #[error("the answer of {url} is larger than the {bytes_max} bytes that this client takes")]
    BodyTooLarge {
        /// Which URL.
        url: String,
        /// The limit in bytes.
        bytes_max: u64,
    },
    /// A page for people where JSON was expected.
    #[error(
        "{url} answers with {content_type} where JSON was expected: is something else listening \
         there? It begins: {beginning}"
    )]
    NotJson {
        /// Which URL.
        url: String,
        /// The header `Content-Type`.
        content_type: String,
        /// The first 80 printable characters.
        beginning: String,
    },
    /// The body is not the JSON value that was asked for.
    #[error("the answer of {url} cannot be read: {problem}; it begins: {beginning}")]
    Unreadable {
        /// Which URL.
        url: String,
        /// What the parser said.
        problem: String,
        /// The first 80 printable characters.
        beginning: String,
    },
    /// The body is not JSON with an array of rows in its place.
    #[error("the answer of {url}: {source}")]
    Rows {
        /// Which URL.
        url: String,
        /// What is wrong.
        source: RowsError,
    },
}

/// What took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// From the start of the request to the head of the answer.
    Answer,
    /// Between two parts of the body.
    Body,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Answer => "to answer",
            Self::Body => "to send more of its answer",
        })
    }
}

/// What opens the door that this status has closed.
fn remedy(status: u16) -> &'static str {
    match status {
        401 => "give a new token",
        402 => "pay what the upstream asks for",
        _ => "give a token with the right category and type",
    }
}

impl UpstreamError {
    /// How a job leaves its slot over this. Bad weather is tried again. A credential that is not let
    /// in pauses its limits, so that no other job finds out the same; what would be wrong again goes
    /// to the dead letters at once.
    #[must_use]
    pub fn leave(self) -> Leave {
        let text = self.to_string();
        match self {
            Self::NotLetIn { groups, .. } => Leave::Pause { groups, reason: text },
            Self::Setup(_)
            | Self::BaseUrl(_)
            | Self::UnknownEndpoint { .. }
            | Self::UnknownFamily(_)
            | Self::Closed { .. }
            | Self::UnfitCredential
            | Self::NoClientSecret { .. }
            | Self::Path(_)
            | Self::BadRequest { .. } => Leave::Dead { reason: text },
            // A rate-limited call normally ends parked, see `Client::call`. Who sends by himself
            // and passes the error on meets the hold at the next attempt.
            Self::RateLimited { .. }
            | Self::Server { .. }
            | Self::Redirected { .. }
            | Self::UnexpectedStatus { .. }
            | Self::TimedOut { .. }
            | Self::Unreachable { .. }
            | Self::Cut { .. }
            | Self::BodyTooLarge { .. }
            | Self::NotJson { .. }
            | Self::Unreadable { .. }
            | Self::Rows { .. } => Leave::Retry { error: text },
        }
    }
}

/// Why a call brought nothing, as a handler passes it on with `?`.
///
/// Not a `std::error::Error`, and that is the point: every such error becomes a retry by `?`, and a
/// dead credential would be tried to the last attempt. This one becomes [`UpstreamError::leave`].
#[derive(Debug)]
pub enum CallError {
    /// The job leaves its slot: it waits for a token, or its lease is gone.
    Leave(Leave),
    /// The permit was too old to be spent, and nothing was sent. Ask for another.
    Stale(StalePermit),
    /// The upstream could not be asked, or said no.
    Upstream(UpstreamError),
}

impl From<Leave> for CallError {
    fn from(leave: Leave) -> Self {
        Self::Leave(leave)
    }
}

impl From<UpstreamError> for CallError {
    fn from(error: UpstreamError) -> Self {
        Self::Upstream(error)
    }
}

impl From<CallError> for Leave {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Leave(leave) => leave,
            CallError::Stale(stale) => stale.into(),
            CallError::Upstream(error) => error.leave(),
        }
    }
}
