//! What each step means: written once, carried out on any [`Tables`].
//!
//! Every function reads first, decides with the arithmetic of `waitless_bucket`, and then writes.

mod acquire;
mod claim;
mod due;
mod enqueue;
mod lane;
mod leases;
mod limits;
mod pauses;
mod requeue;
mod settle;
mod steps;

pub use acquire::{acquire, take};
pub use claim::claim;
pub use due::due;
pub use enqueue::enqueue;
pub use leases::{reap, renew};
pub use limits::{feedback, put_account, set_limits};
pub use pauses::{pause_account, pause_limits};
pub use requeue::requeue;
pub use settle::settle;

use crate::{StoreError, Tables};

type Result<T> = std::result::Result<T, StoreError>;
