use serde::{Deserialize, Serialize};
use waitless_bucket::{Cost, UnixMillis};

/// What an upstream's answer says about a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Feedback {
    /// The upstream counted `remaining` whole tokens left when it took our request. Lowers the
    /// level to that if it was higher, never raises it.
    Remaining {
        /// Whole tokens.
        remaining: u32,
        /// Requests of ours that the upstream has not counted yet.
        in_flight: u32,
        /// When the request was sent.
        sent_at: UnixMillis,
    },
    /// The upstream refused the request for its rate. Closes the bucket until a moment, at which it
    /// holds one token.
    Rejected {
        /// The bucket opens again then.
        until: UnixMillis,
        /// Tokens to give back because the upstream does not charge refused requests.
        refund: Option<Cost>,
    },
    /// The answer cost more than the request took.
    Charged {
        /// Tokens on top; the level may go below zero.
        extra: Cost,
    },
    /// Opens a held bucket again.
    Released,
}
