//! What any rate-limited HTTP API needs, and nothing that only one of them has.
//!
//! - [`Catalogue`]: an upstream's limits, endpoints and habits as a dated data file.
//! - [`Client`]: spends a permit, sends, tells the bucket what the answer said, classifies it.
//! - [`Rows`]: the rows of a JSON array while it streams, in bounded memory.
//! - [`Secret`]: a credential that no `Debug` shows.
//!
//! A handler asks for rows in three lines and cannot send without a permit:
//!
//! ```no_run
//! use waitless_job::{HandlerResult, Job, JobContext};
//! use waitless_upstream::{Client, Credential, Request};
//!
//! async fn page(client: Client, credential: Credential, job: Job<()>, ctx: JobContext) -> HandlerResult {
//!     let request = Request::new("orders", credential, job.record.id).query("page", "1");
//!     let mut rows = client.call(&ctx, &request).await?.rows();
//!     while let Some(chunk) = rows.next_chunk().await? {
//!         // ... land at most 1,000 rows ...
//!         # drop(chunk);
//!     }
//!     Ok(())
//! }
//! ```

mod answer;
mod base_url;
mod body;
mod catalogue;
mod classify;
mod client;
mod config;
mod connecting;
mod envelope;
mod error;
mod excerpt;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod hints;
mod request;
mod rows;
mod secret;
mod splitter;
mod strings;
#[cfg(any(test, feature = "fuzzing"))]
mod whole;

pub use answer::Answer;
pub use base_url::{BaseUrl, BaseUrlError};
pub use catalogue::{
    AnswerCost, Catalogue, CatalogueError, CatalogueFile, Category, Change, ClientSecretHeader,
    CredentialHeader, DailyCap, Endpoint, Group, LimitsError, PathError, PolicyChange, ScaleError,
    Statuses, Summary, UnknownFamily, changes,
};
pub use client::Client;
pub use config::ClientConfig;
pub use envelope::ENVELOPE_BYTES_MAX;
pub use error::{CallError, Phase, UpstreamError};
pub use hints::{Hints, RetryHint, RetryUnit};
pub use request::{Credential, Request};
pub use rows::{CHUNK_BYTES_MAX, CHUNK_ROWS_MAX, Rows};
pub use secret::Secret;
pub use splitter::{ROW_BYTES_MAX, RowsError};
