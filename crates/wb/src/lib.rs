//! Wildberries on Waitless: what this upstream has that no other has.
//!
//! - [`SellerToken`]: a seller's token, read without asking anybody; [`Tokens`] holds them.
//! - [`catalogue`]: the limits that ship with this version, as a dated data file.
//! - [`Dataset`]: what a seller has; [`plan`] makes the jobs of an import, [`handlers`] runs them.
//!
//! What is known of each dataset, with its sources, is told in `docs/wildberries.md`.
//!
//! ```no_run
//! use std::sync::Arc;
//! use waitless_upstream::{Client, ClientConfig};
//! use waitless_wb::{Connector, Dataset, SellerToken, Tokens, catalogue, handlers, plan};
//!
//! # async fn run(clock: waitless_job::Clock) -> Result<(), Box<dyn std::error::Error>> {
//! let token = SellerToken::parse(&std::env::var("WB_TOKEN")?, clock.now())?;
//! let plan = plan(&token, &catalogue(), &Dataset::ALL, None, clock.now())?; // jobs to enqueue
//! for notice in &plan.notices {
//!     eprintln!("{notice}"); // what the token does not open
//! }
//! let limits = catalogue().limits_of(token.account(), token.family(), plan.endpoints())?; // for the store
//!
//! let client = Client::new(Arc::new(catalogue()), ClientConfig::default())?;
//! let tokens = Tokens::new();
//! tokens.put(token);
//! let sink = waitless_sink::open("sqlite:rows.db").await?;
//! let handlers = handlers(Connector::new(client, tokens, sink))?; // for the worker
//! # drop((limits, handlers));
//! # Ok(())
//! # }
//! ```

mod args;
mod catalogue;
mod connector;
mod dataset;
mod datasets;
mod envelope;
mod error;
mod import;
mod key;
mod landing;
mod moscow;
mod plan;
mod report;
mod scope;
mod source;
mod token;
mod tokens;
mod version;

pub use args::ImportArgs;
pub use catalogue::{CATALOGUE_FILE, catalogue};
pub use connector::{Connector, handlers};
pub use dataset::{Dataset, Depth};
pub use error::{PlanError, TokenError, TokenPart};
pub use import::KIND;
pub use moscow::MoscowTime;
pub use plan::{Notice, Plan, closed, plan};
pub use report::{CsvRows, LINE_BYTES_MAX, Report, ReportError, ReportRow, UNPACKED_BYTES_MAX};
pub use token::{SellerToken, TokenKind};
pub use tokens::Tokens;
