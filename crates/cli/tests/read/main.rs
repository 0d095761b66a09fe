//! The commands that only look into a store, tried with the program itself on store files that the
//! library has written.

mod accounts;
mod bad_input;
mod beside_a_worker;
mod doctor;
mod jobs;
mod limits;
mod program;
mod runs;
mod scene;
mod watch;
