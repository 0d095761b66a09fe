//! `import`, `demo` and `mock` as a user runs them: the real program against the strict
//! marketplace.

mod again;
mod bad_input;
mod demo;
mod killed;
mod signals;
mod support;
