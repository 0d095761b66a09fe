//! Runs jobs: claims no more than it has free slots for, starts a granted job at once, renews its
//! lease, takes down its outcome. A job that finds no token leaves its slot.
//!
//! Built on the worker loop and the tower stack of `apalis-core`, with a backend of our own:
//! [`LaneBackend`] yields what the claimer has claimed, [`AcknowledgeLayer`] settles what became
//! of it. [`Worker`] puts them together, with tower layers of your own between them
//! ([`Worker::layer`]).
//!
//! ```no_run
//! use std::sync::Arc;
//! use waitless_job::{Clock, Handlers, HandlerResult, Job, JobContext};
//! use waitless_store::MemoryStore;
//! use waitless_worker::{Worker, WorkerConfig};
//!
//! async fn page(job: Job<u64>, ctx: JobContext) -> HandlerResult {
//!     let permit = ctx.permit("orders").await?; // a token, or this slot is free again
//!     let _sent = permit.spend(ctx.now())?;
//!     // ... send the request ...
//!     Ok(())
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let handlers = Handlers::new().with("page", page)?;
//! let worker = Worker::new(Arc::new(MemoryStore::new()), Clock::system(), handlers)
//!     .config(WorkerConfig { slots: 50, ..WorkerConfig::default() });
//! worker.run_until(std::future::pending()).await?;
//! # Ok(())
//! # }
//! ```

mod acknowledge;
mod backend;
mod claimer;
mod config;
mod error;
mod granted;
mod held;
mod keeper;
mod retry;
mod service;
mod session;
mod shutdown;
mod slots;
mod stats;
mod worker;

pub use acknowledge::{Acknowledge, AcknowledgeLayer};
pub use backend::LaneBackend;
pub use config::WorkerConfig;
pub use error::WorkerError;
pub use granted::Granted;
pub use service::HandlerService;
pub use stats::{Stats, StatsSnapshot};
pub use waitless_scheduler::Backoff;
pub use worker::Worker;
