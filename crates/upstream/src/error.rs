use waitless_job::{Leave, StalePermit, UnixMillis};

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
    /// 429: too many requests. The bucket is closed until then.
    #[error("{url} refused the request for its rate; the bucket is closed until {until}")]
    RateLimited {
        /// Which URL.
        url: String,
        /// Until when, in milliseconds since the Unix epoch.
        until: UnixMillis,
    },
    /// 401: the credential is no good, or no longer.
    #[error(
        "{url} does not accept the credential (401): {message}; give this worker a valid one, \
         then retry the job"
    )]
    Unauthorized {
        /// Which URL.
        url: String,
        /// The upstream's words.
        message: String,
    },
    /// 402: the upstream wants money.
    #[error("{url} wants to be paid first (402): {message}; settle that, then retry the job")]
    PaymentRequired {
        /// Which URL.
        url: String,
        /// The upstream's words.
        message: String,
    },
    /// 403: the credential is good, and not for this.
    #[error(
        "{url} is not allowed for this credential (403): {message}; give this worker one with the \
         right category and type, then retry the job"
    )]
    Forbidden {
        /// Which URL.
        url: String,
        /// The upstream's words.
        message: String,
    },
    /// Another 4xx: the request is wrong, and would be wrong again.
    #[error("{url} refuses the request ({status}): {message}")]
    BadRequest {
        /// Which URL.
        url: String,
        /// Status code.
        status: u16,
        /// The upstream's words.
        message: String,
    },
    /// 5xx, or a status that says the upstream gave up waiting.
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
    #[error(
        "the answer of {url} is larger than {bytes_max} bytes: allow this client more, then retry the job"
    )]
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

impl UpstreamError {
    /// How a job leaves its slot over this. Bad weather is tried again; what a human has to mend
    /// goes to the dead letters at once.
    #[must_use]
    pub fn leave(self) -> Leave {
        match self {
            Self::Setup(_)
            | Self::BaseUrl(_)
            | Self::UnknownEndpoint { .. }
            | Self::UnknownFamily(_)
            | Self::Closed { .. }
            | Self::UnfitCredential
            | Self::NoClientSecret { .. }
            | Self::Path(_)
            | Self::Unauthorized { .. }
            | Self::PaymentRequired { .. }
            | Self::Forbidden { .. }
            | Self::BadRequest { .. }
            | Self::BodyTooLarge { .. } => Leave::Dead { reason: self.to_string() },
            // A rate-limited call normally ends parked, see `Client::call`. Who sends by himself
            // and passes the error on meets the hold at the next attempt.
            Self::RateLimited { .. }
            | Self::Server { .. }
            | Self::Redirected { .. }
            | Self::UnexpectedStatus { .. }
            | Self::TimedOut { .. }
            | Self::Unreachable { .. }
            | Self::Cut { .. }
            | Self::NotJson { .. }
            | Self::Unreadable { .. }
            | Self::Rows { .. } => Leave::Retry { error: self.to_string() },
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
