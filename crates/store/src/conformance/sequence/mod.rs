//! Random operations, applied to a store and to the reference.
//!
//! After every one of them both must have answered the same, must hold the same, and what they
//! hold must be sound. Ids and leases are made here, so both get the same; accounts, groups and
//! lanes are few, so that operations meet.

mod apply;
mod compare;
mod course;
mod operation;
mod strategy;

pub use compare::{Difference, agree, compare};
pub use operation::Operation;
pub use strategy::operations;
