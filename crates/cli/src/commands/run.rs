use anyhow::Result;

use crate::{
    args::{Global, Run},
    exit::Exit,
};

pub(crate) async fn run(_global: &Global, _command: Run) -> Result<Exit> {
    Ok(Exit::Ok)
}
