//! The mock over HTTP, as a client sees it.

mod answers;
mod cabinet;
mod client;
mod control;
mod limits;
mod paging;
mod rows;
mod tokens;
