//! What simulations come to, and which scenarios are refused.

mod lanes;
mod pace;
mod repeat;
mod report;
mod scenario;
mod strategies;
