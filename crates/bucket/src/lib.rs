//! Token buckets in exact integers.
//!
//! A bucket is the quota of one account on one limit group of an upstream API. It holds up to
//! `burst` tokens and gains `tokens` of them per `interval`. Everything here is arithmetic over
//! values: the current time is an argument, the state goes in and comes out, nothing blocks and
//! nothing is stored. Stores call [`evaluate_all`] inside their atomic step.
//!
//! ```
//! use waitless_bucket::{Cost, Decision, Policy, UnixMillis, evaluate};
//!
//! let orders: Policy = "1/min burst 10".parse()?;
//! let mut now = UnixMillis(1_700_000_000_000);
//!
//! // A bucket that nobody has touched is full.
//! let Decision::Allowed { state, remaining } = evaluate(None, &orders, Cost::ONE, now) else {
//!     unreachable!("a full bucket grants")
//! };
//! assert_eq!(remaining, 8); // the tenth token is back when the guard margin has passed
//!
//! // Ten tokens later a denial names the shortest wait, to the millisecond.
//! # let mut state = state;
//! # now = now.plus(60);
//! # for _ in 0..9 {
//! #     let Decision::Allowed { state: next, .. } = evaluate(Some(&state), &orders, Cost::ONE, now)
//! #         else { panic!("within the burst") };
//! #     state = next;
//! # }
//! let Decision::Denied { wait_ms } = evaluate(Some(&state), &orders, Cost::ONE, now) else {
//!     unreachable!("the burst is spent")
//! };
//! assert_eq!(wait_ms, 60_000);
//! # Ok::<(), waitless_bucket::PolicyError>(())
//! ```

mod error;
mod evaluate;
mod feedback;
mod pace;
mod patience;
mod policy;
mod quota;
mod state;
mod time;

pub use error::PolicyError;
pub use evaluate::{
    AllDecision, Cost, Decision, Draw, evaluate, evaluate_all, wait_for_requests_ms, wait_ms,
};
pub use feedback::{
    accept, change_policy, charge, give_back, hold, late, observe_remaining, refund, reject,
    release,
};
pub use pace::{CLEAN_ANSWERS, Pace, SLOWER_MAX};
pub use patience::{Patience, wait_or_refuse};
pub use policy::{DEFAULT_MARGIN_MS, Policy};
pub use quota::{Quota, peek};
pub use state::{BucketState, current, effective, full_at, ttl_ms};
pub use time::UnixMillis;
