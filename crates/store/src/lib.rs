//! What a store of Waitless promises.
//!
//! [`Store`] and [`Reader`] are the promise, [`MemoryStore`] is the reference, [`engine`] says what
//! each step means for every store that has transactions, [`fsck`](fsck::fsck) checks what must
//! always hold, and `conformance` (a feature) is the suite that every store passes.

#[cfg(feature = "conformance")]
pub mod conformance;
pub mod engine;
mod error;
pub mod fsck;
pub mod limiter;
mod memory;
pub mod model;
pub mod ops;
mod store;
mod tables;

pub use error::StoreError;
pub use memory::MemoryStore;
pub use store::{Reader, Store};
pub use tables::{Tables, Transact};
