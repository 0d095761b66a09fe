use waitless_job::BucketKey;
use waitless_store::model::LimitView;

use crate::Report;

/// A simulation with everything that its upstream has seen.
#[derive(Debug, Clone)]
pub struct Trace {
    /// What came of it.
    pub report: Report,
    /// What the upstream has seen, in the order of arrival on each bucket.
    pub seen: Vec<Seen>,
    /// The limits and their buckets as they are in the end.
    pub limits: Vec<LimitView>,
}

/// Something that the upstream has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// When, in milliseconds from the start.
    pub at_ms: u64,
    /// On which bucket.
    pub bucket: BucketKey,
    /// What.
    pub what: What,
}

/// What the upstream has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A request that it took.
    Accepted,
    /// A request that it refused.
    Refused,
    /// A token that another client took.
    Stolen,
}
