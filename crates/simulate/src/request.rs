use serde::{Deserialize, Serialize};
use waitless_job::LimitGroup;

/// One request, one job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) group: LimitGroup,
    /// Which probe this is, if it is one.
    pub(crate) probe: Option<usize>,
}

/// The kind of all simulated jobs.
pub(crate) const KIND: &str = "request";
