//! Wildberries on Waitless: what this upstream has that no other has.
//!
//! - [`SellerToken`]: a seller's token, read without asking anybody; [`Tokens`] holds them.
//! - [`catalogue`]: the limits that ship with this version, as a dated data file.
//! - [`Dataset`]: orders and sales; [`plan`] makes the jobs of an import, [`handlers`] runs them.
//!
//! ```no_run
//! use std::sync::Arc;
//! use waitless_upstream::{Client, ClientConfig};
//! use waitless_wb::{Connector, Dataset, SellerToken, Tokens, catalogue, handlers, plan};
//!
//! # async fn run(clock: waitless_job::Clock) -> Result<(), Box<dyn std::error::Error>> {
//! let token = SellerToken::parse(&std::env::var("WB_TOKEN")?, clock.now())?;
//! let limits = catalogue().limits(token.account(), token.family())?; // for the store
//! let since = "2026-09-01".parse()?;
//! let plan = plan(token.account(), &Dataset::ALL, since, clock.now())?; // jobs to enqueue
//!
//! let client = Client::new(Arc::new(catalogue()), ClientConfig::default())?;
//! let tokens = Tokens::new();
//! tokens.put(token);
//! let sink = waitless_sink::open("sqlite:rows.db").await?;
//! let handlers = handlers(Connector::new(client, tokens, sink))?; // for the worker
//! # drop((limits, plan, handlers));
//! # Ok(())
//! # }
//! ```

mod args;
mod catalogue;
mod connector;
mod cursor;
mod dataset;
mod error;
mod import;
mod moscow;
mod page;
mod plan;
mod progress;
mod row;
mod token;
mod tokens;

pub use args::ImportArgs;
pub use catalogue::{CATALOGUE_FILE, catalogue};
pub use connector::{Connector, handlers};
pub use cursor::Cursor;
pub use dataset::Dataset;
pub use error::{PlanError, TokenError, TokenPart};
pub use import::KIND;
pub use moscow::MoscowTime;
pub use plan::{DEPTH_DAYS, Notice, Plan, deepest_day, plan};
pub use token::{SellerToken, TokenKind};
pub use tokens::Tokens;
