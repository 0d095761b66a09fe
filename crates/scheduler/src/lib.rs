//! What is decided about jobs, as pure functions of values and `now`.
//!
//! - [`dispatch`]: which of the due lanes get the free slots;
//! - [`Backoff`]: when a failed attempt is made again;
//! - [`explain`]: why a job waits, and until when;
//! - [`eta`]: when a run ends, and which bucket decides it.

mod backoff;
mod dispatch;
mod eta;
mod explain;
mod run;

pub use backoff::Backoff;
pub use dispatch::{Free, dispatch};
pub use eta::{Binding, BucketLoad, BucketTime, Eta, SlotLoad, eta};
pub use explain::{Explanation, Reason, Situation, explain, level_hundredths, slower_policy};
pub use run::{PausedLimit, RunProgress, run_progress};
