#![doc = include_str!("../README.md")]

mod audit;
mod body;
mod clock;
mod config;
mod control;
mod dataset;
mod date_from;
mod dice;
mod error;
mod expected;
mod gateway;
mod late;
mod layout;
mod limiter;
mod methods;
mod mock;
mod rows;
mod seller;
mod server;
mod table;
mod token;
mod upstream;

pub use audit::{AuditEntry, MethodSummary, Summary};
pub use config::{DatasetSize, MockConfig, SellerSizes};
pub use dataset::Dataset;
pub use error::MockError;
pub use expected::ExpectedRow;
pub use methods::{Answer, METHODS, Method};
pub use mock::Mock;
pub use seller::Seller;
