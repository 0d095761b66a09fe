//! `import`, `demo` and `mock` as a user runs them: the real program against the strict
//! marketplace.

mod again;
mod bad_input;
mod catalogue;
mod datasets;
mod demo;
mod faults;
mod killed;
mod paused;
mod signals;
mod support;
