use anyhow::Result;
use clap::CommandFactory;

use crate::{args::Cli, exit::Exit, output};

pub(crate) fn run(shell: clap_complete::Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "waitless", &mut script);
    output::print(String::from_utf8(script)?.trim_end())?;
    Ok(Exit::Ok)
}
