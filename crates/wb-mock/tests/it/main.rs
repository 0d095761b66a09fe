//! The mock over HTTP, as a client sees it.

mod answers;
mod cabinet;
mod client;
mod control;
mod families;
mod faults;
mod limits;
mod paging;
mod refusals;
mod rows;
mod tokens;
