//! One file a noun.

mod account;
mod completions;
mod doctor;
mod job;
mod limit;
mod run;
mod simulate;

use anyhow::{Context, Result};

use crate::{
    args::{Cli, Command},
    exit::Exit,
};

/// Runs a command to its end.
pub(crate) fn run(cli: Cli) -> Result<Exit> {
    let global = cli.global;
    match cli.command {
        Command::Completions { shell } => completions::run(shell),
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
                    _ => todo!(),
                }
            })
        }
    }
}
