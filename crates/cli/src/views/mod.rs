//! What is printed of things: the fields of the JSON, and the cells of the tables.
//!
//! Names of JSON fields are a promise: one that changes breaks whoever reads them. Moments are
//! milliseconds since the Unix epoch and end with `_at` or `_until`, spans end with `_ms`.

mod account;
mod job;
mod limit;
mod run;
mod skipped;

pub(crate) use account::{AccountView, TOKEN_WARN_MS, token_text};
pub(crate) use job::{JobDetail, JobView};
pub(crate) use limit::{LimitInfo, limit_text};
pub(crate) use run::{Paused, RunDetail, RunState, RunView, eta_text};
pub(crate) use skipped::Skipped;
