use std::{io, path::Path};

use anyhow::Result;
use waitless_upstream::{Catalogue, CatalogueError, CatalogueFile};

use crate::{
    args::{self, Global},
    exit::{Exit, Failure},
    format::printable,
};

mod check;
mod diff;

/// The catalogues that are part of this program.
const BUILT_IN: [CatalogueFile; 3] = {
    let [amazon, shopify] = CatalogueFile::WITHOUT_CONNECTOR;
    [waitless_wb::CATALOGUE_FILE, amazon, shopify]
};

pub(crate) fn run(global: &Global, command: &args::Catalogue) -> Result<Exit> {
    match command {
        args::Catalogue::Check { file: Some(file), .. } => {
            let text = read(file)?;
            check::check(global, &[(&file.display().to_string(), &text)])
        }
        args::Catalogue::Check { file: None, .. } => {
            check::check(global, &BUILT_IN.map(|file| (file.file, file.text)))
        }
        args::Catalogue::Diff { old, new } => {
            diff::diff(global, &open(old)?, &open(new)?)?;
            Ok(Exit::Ok)
        }
    }
}

/// The catalogue that is part of this program under the name of an upstream, or that of a file.
pub(crate) fn open(name: &str) -> Result<Catalogue> {
    if let Some(file) = BUILT_IN.iter().find(|file| file.upstream == name) {
        return Ok(file.catalogue()?);
    }
    // Names have no such ending: whoever writes one means a file.
    let path = Path::new(name);
    if path.extension().is_none() && !path.exists() {
        let known = BUILT_IN.map(|file| file.upstream).join(", ");
        let shown = printable(name);
        let problem = format!("there is no upstream `{shown}`; there are {known}, or name a file");
        return Err(Failure::new(Exit::NotFound, problem));
    }
    Ok(Catalogue::parse(name, &read(path)?)?)
}

/// The text of a file; one that is not there ends the program as not found.
fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| {
        let exit = match error.kind() {
            io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Failed,
        };
        let error = CatalogueError::Read { path: path.to_owned(), source: error.into() };
        Failure::new(exit, error)
    })
}
