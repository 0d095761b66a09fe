use anyhow::Result;

use crate::{
    args::{Doctor, Global},
    exit::Exit,
};

pub(crate) async fn run(_global: &Global, _args: &Doctor) -> Result<Exit> {
    Ok(Exit::Ok)
}
