use anyhow::Result;
use clap::CommandFactory;

use crate::{args::Cli, exit::Exit};

pub(crate) fn run(shell: clap_complete::Shell) -> Result<Exit> {
    clap_complete::generate(shell, &mut Cli::command(), "waitless", &mut std::io::stdout());
    Ok(Exit::Ok)
}
