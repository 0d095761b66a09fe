//! One file a noun.

mod account;
mod catalogue;
mod completions;
mod demo;
mod doctor;
mod import;
mod job;
mod limit;
mod mock;
mod run;
mod simulate;
mod token;

use anyhow::{Context, Result};
use chrono::{DateTime, Utc};
use waitless_job::UnixMillis;

use crate::{
    args::{Cli, Command},
    exit::Exit,
};

/// A moment as chrono has it.
pub(crate) fn wall_time(at: UnixMillis) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(at.0).unwrap_or_default()
}

/// Runs a command to its end.
pub(crate) fn run(cli: Cli) -> Result<Exit> {
    let global = cli.global;
    match cli.command {
        Command::Completions { shell } => completions::run(shell),
        Command::Catalogue(command) => catalogue::run(&global, &command),
        // Brings a runtime of its own, with paused time.
        Command::Simulate(args) => simulate::run(&global, &args),
        command => {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build()
                .context("cannot start the runtime")?;
            runtime.block_on(async {
                match command {
                    Command::Run(command) => run::run(&global, command).await,
                    Command::Job(command) => job::run(&global, command).await,
                    Command::Limit(command) => limit::run(&global, command).await,
                    Command::Account(command) => account::run(&global, command).await,
                    Command::Doctor(args) => doctor::run(&global, &args).await,
                    Command::Demo(args) => demo::run(&global, &args).await,
                    Command::Import(args) => import::run(&global, &args).await,
                    Command::Mock(args) => mock::run(&global, &args).await,
                    Command::Completions { .. } | Command::Catalogue(_) | Command::Simulate(_) => {
                        unreachable!("they ran without a runtime")
                    }
                }
            })
        }
    }
}
