use serde::{Deserialize, Serialize};
use waitless_bucket::{Cost, UnixMillis};

/// What an upstream's answer says about a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Feedback {
    /// The upstream took the request. A bucket that goes slower than published learns from it that
    /// its pace is good; otherwise nothing changes, unless the answer says what is left: then the
    /// level is lowered to that if it was higher, and never raised.
    Accepted {
        /// Whole tokens that the upstream counted left when it took the request, if it says so.
        remaining: Option<u32>,
        /// Requests of ours that the upstream has not counted yet.
        in_flight: u32,
        /// When the request was sent.
        sent_at: UnixMillis,
    },
    /// The upstream refused the request for its rate. Closes the bucket until a moment, at which it
    /// holds one token; refusals that keep coming make it slower than published.
    Rejected {
        /// The bucket opens again then. `None` if the answer names no moment: then it is one interval
        /// from now, doubled for each further refusal in a row, up to an hour but never less than one
        /// interval.
        until: Option<UnixMillis>,
        /// Tokens to give back because the upstream does not charge refused requests.
        refund: Option<Cost>,
        /// When the request was sent. Of requests that were under way together one counts.
        sent_at: UnixMillis,
    },
    /// The answer cost more than the request took.
    Charged {
        /// Tokens on top; the level may go below zero.
        extra: Cost,
    },
    /// The request reached the upstream later than it was sent, because a connection had to be made
    /// first. The bucket gains that much later, as the upstream's does.
    Late {
        /// Milliseconds.
        late_ms: u64,
    },
    /// Opens a held bucket again, and lets it go at the published pace.
    Released,
}
