use anyhow::Result;
use serde::Serialize;
use waitless_upstream::{Catalogue, CatalogueError, Summary};

use crate::{
    args::Global,
    exit::Exit,
    format::printable,
    output::{self, Listed},
};

/// What a look at a catalogue file found.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
    /// None if something is wrong with the file.
    upstream: Option<String>,
    /// The day of which its facts are.
    facts_as_of: Option<String>,
    #[serde(flatten)]
    summary: Option<Summary>,
    problems: Vec<Problem>,
}

/// Something that is wrong with a file.
#[derive(Debug, Serialize)]
struct Problem {
    file: String,
    /// From 1.
    line: usize,
    field: String,
    problem: String,
}

pub(super) fn check(global: &Global, files: &[(&str, &str)]) -> Result<Exit> {
    let reports: Vec<Report> = files.iter().map(|(file, text)| Report::of(file, text)).collect();
    let problems: Vec<&Problem> = reports.iter().flat_map(|report| &report.problems).collect();
    if problems.is_empty() || !global.output().is_for_people() {
        output::list(global.output(), &reports)?;
    } else {
        for Problem { file, line, field, problem } in &problems {
            let line = format!("{file}:{line}: {field}: {problem}");
            output::print(&printable(&line))?;
        }
    }
    match problems.len() {
        0 => return Ok(Exit::Ok),
        1 => say!("error: 1 problem"),
        many => say!("error: {many} problems"),
    }
    Ok(Exit::Failed)
}

impl Report {
    fn of(file: &str, text: &str) -> Self {
        let problems = Catalogue::problems(file, text).into_iter().filter_map(Problem::of);
        let problems: Vec<Problem> = problems.collect();
        let catalogue = Catalogue::parse(file, text).ok();
        let catalogue = catalogue.as_ref();
        Self {
            file: file.to_owned(),
            upstream: catalogue.map(|catalogue| catalogue.upstream().to_owned()),
            facts_as_of: catalogue.map(|catalogue| catalogue.facts_as_of().to_owned()),
            summary: catalogue.map(Catalogue::summary),
            problems,
        }
    }
}

impl Problem {
    fn of(error: CatalogueError) -> Option<Self> {
        match error {
            CatalogueError::Invalid { file, line, field, problem } => {
                Some(Self { file, line, field, problem })
            }
            // The text was read before.
            CatalogueError::Read { .. } => None,
        }
    }
}

impl Listed for Report {
    const COLUMNS: &'static [&'static str] = &[
        "upstream",
        "facts as of",
        "operations",
        "groups",
        "shared",
        "families",
        "deprecated",
        "removed",
        "ending",
        "daily caps",
        "categories",
        "file",
    ];
    const NARROW: usize = 10;

    fn cells(&self) -> Vec<String> {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let number = |read: fn(&Summary) -> usize| {
            self.summary
                .as_ref()
                .map_or_else(|| "-".to_owned(), |summary| read(summary).to_string())
        };
        vec![
            text(&self.upstream),
            text(&self.facts_as_of),
            number(|summary| summary.operations),
            number(|summary| summary.groups),
            number(|summary| summary.shared_groups),
            number(|summary| summary.families),
            number(|summary| summary.deprecated),
            number(|summary| summary.removed),
            number(|summary| summary.ending),
            number(|summary| summary.daily_caps),
            number(|summary| summary.categories),
            printable(&self.file),
        ]
    }

    fn id(&self) -> String {
        self.upstream.clone().unwrap_or_else(|| printable(&self.file))
    }
}
