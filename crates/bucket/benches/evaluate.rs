//! `evaluate` beside `governor`'s checks, in one run.
fn main() {}
