use anyhow::Result;

use crate::{
    args::{Global, Job},
    exit::Exit,
};

pub(crate) async fn run(_global: &Global, _command: Job) -> Result<Exit> {
    Ok(Exit::Ok)
}
