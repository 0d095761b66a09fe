//! The program `waitless`: reads the command line, wires the crates together, prints.
//!
//! Data goes to standard output, everything else to standard error; how it ended is in the exit
//! code ([`exit::Exit`]).

#[macro_use]
mod say;

mod args;
mod commands;
mod digitize;
mod exit;
mod find;
mod format;
mod logging;
mod open;
mod output;
mod signals;
mod surroundings;
mod verify;
mod views;

use std::process::ExitCode;

use crate::{args::Cli, exit::Exit};

fn main() -> ExitCode {
    let cli = Cli::read();
    logging::init(&cli.global);
    output::init(cli.global.color);
    match commands::run(cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            say!("error: {error:#}");
            Exit::of(&error).into()
        }
    }
}
