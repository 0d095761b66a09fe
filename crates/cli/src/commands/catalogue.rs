use std::{
    io,
    path::{Path, PathBuf},
};

use anyhow::Result;
use waitless_upstream::{Catalogue, CatalogueError, CatalogueFile};

use crate::{
    args::{self, Global},
    exit::{Exit, Failure},
    format::printable,
    output,
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
        args::Catalogue::Show { upstream } => {
            let file = BUILT_IN.iter().find(|file| file.upstream == upstream);
            let file = file.ok_or_else(|| unknown(upstream, ""))?;
            output::print(file.text.trim_end())?;
            Ok(Exit::Ok)
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
        return Err(unknown(name, ", or name a file"));
    }
    Ok(Catalogue::parse(name, &read(path)?)?)
}

fn unknown(name: &str, or: &str) -> anyhow::Error {
    let known = BUILT_IN.map(|file| file.upstream).join(", ");
    let name = printable(name);
    Failure::new(Exit::NotFound, format!("there is no upstream `{name}`; there are {known}{or}"))
}

/// Where the limits of Wildberries are read, again and again if need be.
pub(crate) struct Source {
    /// None for the catalogue that is part of this program.
    file: Option<PathBuf>,
    /// Divides every interval.
    speed: u32,
}

impl Source {
    pub(crate) fn new(file: Option<PathBuf>, speed: u32) -> Self {
        Self { file, speed }
    }

    pub(crate) fn read(&self) -> Result<Catalogue> {
        let catalogue = match &self.file {
            None => waitless_wb::catalogue(),
            Some(file) => {
                let name = file.display().to_string();
                let catalogue = Catalogue::parse(&name, &read(file)?).map_err(|error| {
                    let all = format!("`waitless catalogue check {name}` finds all there is");
                    Failure::new(Exit::Usage, format!("{error}; {all}"))
                })?;
                let (upstream, ours) = (catalogue.upstream(), waitless_wb::CATALOGUE_FILE.upstream);
                if upstream != ours {
                    let shown = printable(upstream);
                    let problem = format!("{} is of {shown}, not of {ours}", file.display());
                    return Err(Failure::new(Exit::Usage, problem));
                }
                catalogue
            }
        };
        Ok(match self.speed {
            1 => catalogue,
            speed => catalogue.scaled(speed, waitless_bucket::DEFAULT_MARGIN_MS)?,
        })
    }

    /// The text of the file, if there is one and it can be read.
    pub(crate) fn text(&self) -> Option<String> {
        std::fs::read_to_string(self.file.as_ref()?).ok()
    }
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
