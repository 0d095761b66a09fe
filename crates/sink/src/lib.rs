//! Where fetched upstream rows land.
//!
//! A row is one JSON object of the upstream, known by its account, its dataset and its natural key.
//! Landing is an upsert where the last write wins: a row replaces the stored one if its version is
//! not older. So a page that is landed twice leaves its rows once, and an old page that is replayed
//! never overwrites newer rows. Rows that cannot be keyed go to a quarantine instead of being lost.
//!
//! ```
//! use waitless_sink::{Batch, Counts, Landed, RawValue, Row};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sink = waitless_sink::open("sqlite::memory:").await?;
//! let page = Batch {
//!     account: "seller-1".into(),
//!     dataset: "orders".into(),
//!     fetched_at: 1_755_900_000_000,
//!     rows: vec![Row {
//!         key: "srid-1".into(),
//!         version: "2026-11-30T12:00:00".into(),
//!         body: RawValue::from_string(r#"{"srid":"srid-1"}"#.into())?,
//!     }],
//! };
//!
//! let first = sink.land(page.clone()).await?;
//! assert_eq!(first, Landed { inserted: 1, updated: 0, unchanged: 0 });
//!
//! // The same page again brings nothing new, and that is how a connector knows the end of paging.
//! let second = sink.land(page).await?;
//! assert_eq!(second, Landed { inserted: 0, updated: 0, unchanged: 1 });
//! assert!(second.nothing_new());
//!
//! assert_eq!(sink.count("seller-1", "orders").await?, Counts { rows: 1, quarantined: 0 });
//! # Ok(())
//! # }
//! ```
//!
//! [`SqliteSink`] is the one implementation: a file, or memory for tests and demonstrations.
//! PostgreSQL comes later behind the same [`Sink`] trait.

mod batch;
mod counts;
mod error;
mod open;
mod quarantine;
mod sink;
mod sqlite;
mod url;

pub use batch::{Batch, Landed, Row};
pub use counts::Counts;
pub use error::SinkError;
pub use open::open;
pub use quarantine::{Quarantined, Reject, Rejects};
/// JSON text as the upstream sent it, checked to be JSON and otherwise untouched.
pub use serde_json::value::RawValue;
pub use sink::Sink;
pub use sqlite::SqliteSink;
pub use url::SinkUrl;
