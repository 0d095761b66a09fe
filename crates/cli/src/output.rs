use std::io::{self, Write};

use anyhow::{Context, Result};
use clap::ValueEnum;
use comfy_table::{Table, presets};
use serde::Serialize;

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Columns for people
    Table,
    /// More columns
    Wide,
    /// One JSON document
    Json,
    /// One JSON object a line
    Jsonl,
    /// Only the ids, one a line
    Id,
}

impl Output {
    /// Whether people read it.
    pub(crate) fn is_for_people(self) -> bool {
        matches!(self, Self::Table | Self::Wide)
    }
}

/// Something that is listed: in JSON all its fields, in a table some.
pub(crate) trait Listed: Serialize {
    /// The columns of a table; the first `narrow` of them if it is not wide.
    const COLUMNS: &'static [&'static str];
    /// How many columns a table has that is not wide.
    const NARROW: usize;
    /// The cells of its row.
    fn cells(&self) -> Vec<String>;
    /// What names it.
    fn id(&self) -> String;
}

/// Prints a list.
pub(crate) fn list<T: Listed>(output: Output, items: &[T]) -> Result<()> {
    match output {
        Output::Json => print(&serde_json::to_string_pretty(items)?),
        Output::Jsonl => items.iter().try_for_each(|item| print(&serde_json::to_string(item)?)),
        Output::Id => items.iter().try_for_each(|item| print(&item.id())),
        Output::Table | Output::Wide => {
            let columns = if output == Output::Wide { T::COLUMNS.len() } else { T::NARROW };
            print(&table(&T::COLUMNS[..columns], items.iter().map(Listed::cells)))
        }
    }
}

/// Prints one thing: as JSON, its id, or the text that `people` makes of it.
pub(crate) fn one<T: Serialize>(
    output: Output,
    item: &T,
    id: &str,
    people: impl FnOnce(&T) -> String,
) -> Result<()> {
    match output {
        Output::Json => print(&serde_json::to_string_pretty(item)?),
        Output::Jsonl => print(&serde_json::to_string(item)?),
        Output::Id => print(id),
        Output::Table | Output::Wide => print(people(item).trim_end()),
    }
}

/// Rows under their headers. Of each row as many cells as there are headers.
pub(crate) fn table(headers: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(headers.iter().map(|header| header.to_uppercase()));
    for row in rows {
        table.add_row(row.into_iter().take(headers.len()));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Prints a text and ends its line.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        // Whoever read it has seen enough, as `head` has. `println!` would panic here.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        printed => printed.context("cannot write to standard output"),
    }
}
