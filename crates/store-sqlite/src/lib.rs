//! A store of Waitless in an SQLite file: one machine, no server.
//!
//! One thread owns the connection that writes. Steps wait in front of it; it takes all that wait,
//! runs them in one transaction and answers them after its one commit, so that many callers share
//! one flush of the disk. Readers have connections of their own and never wait for it.
//!
//! One worker at a time runs on a file. Reading it and enqueueing to it from other processes is
//! always possible.
//!
//! ```
//! use waitless_store::Reader;
//! use waitless_store_sqlite::SqliteStore;
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! # let directory = tempfile::tempdir()?;
//! let store = SqliteStore::open(directory.path().join("queue.db")).await?;
//! assert_eq!(store.job_counts(None).await?, []);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checkpoint;
mod error;
mod health;
mod open;
mod options;
mod owner;
pub mod queries;
mod readers;
mod rows;
mod schema;
mod step;
mod store;
mod tables;
mod writer;

pub use health::Health;
pub use options::{Durability, Options};
pub use schema::migrate;
pub use store::SqliteStore;
