use anyhow::Result;

use crate::{
    args::{Global, Limit},
    exit::Exit,
};

pub(crate) async fn run(_global: &Global, _command: Limit) -> Result<Exit> {
    Ok(Exit::Ok)
}
