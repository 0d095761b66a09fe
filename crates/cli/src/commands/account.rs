use anyhow::Result;

use crate::{
    args::{Account, Global},
    exit::Exit,
};

pub(crate) async fn run(_global: &Global, _command: Account) -> Result<Exit> {
    Ok(Exit::Ok)
}
