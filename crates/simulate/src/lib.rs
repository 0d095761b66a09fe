//! When will this be done? The real scheduler and worker on the in-memory store, against a strict
//! simulated upstream, under virtual time: hours of work in seconds.
//!
//! [`Scenario`] says what there is to do, [`Options`] how it is done, [`run`] does it and
//! [`Report`] says what came of it. The strategies `naive` and `blocking` exist to show what lanes
//! are worth: they run on the same worker and differ only in their handler.

mod error;
mod options;
mod probes;
mod report;
mod request;
mod run;
mod scenario;
mod strategy;
mod trace;
mod truth;
mod upstream;
mod window;

pub use error::SimulateError;
pub use options::{Options, Strategy};
pub use report::{Report, Waits};
pub use run::{run, trace};
pub use scenario::{Accounts, Backlog, Scenario, ScenarioError};
pub use trace::{Seen, Trace, What};
pub use truth::{Closed, Hidden, Truth};
