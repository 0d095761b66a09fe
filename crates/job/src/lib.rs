//! What a job is: its names, its states, its outcomes, and what a handler sees of the queue.
//!
//! Everything here is plain values, except [`Clock`], the one place that asks the operating system
//! for the time, and [`JobContext`], through which a running handler asks for permits.

mod class;
mod clock;
mod context;
mod feedback;
mod handler;
mod ids;
mod lane;
mod names;
mod new_job;
mod outcome;
mod permit;
mod record;

pub use class::Class;
pub use clock::Clock;
pub use context::{CheckpointError, Job, JobContext, JobOps};
pub use feedback::Feedback;
pub use handler::{Handler, HandlerResult, Handlers};
pub use ids::{JobId, LeaseToken, RunId};
pub use lane::{BucketKey, LaneKey, Need, Needs};
pub use names::{AccountId, Kind, LimitGroup, NameError, WorkerName};
pub use new_job::{ARGS_BYTES_MAX, ARGS_DEPTH_MAX, DEFAULT_MAX_ATTEMPTS, NewJob, NewJobError};
pub use outcome::{Leave, with_causes};
pub use permit::{Permit, SentPermit, StalePermit};
pub use record::{BlockedBy, JobRecord, JobState, Lease, Progress};
pub use waitless_bucket::{Cost, Policy, Quota, UnixMillis};
