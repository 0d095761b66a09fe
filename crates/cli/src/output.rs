use std::{
    env,
    io::{self, IsTerminal, Write},
    sync::OnceLock,
};

use anyhow::{Context, Result};
use clap::ValueEnum;
use comfy_table::{Cell, Table, presets};
use serde::Serialize;

use crate::args::Color;

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
    /// The cells of its row in a table that is not wide, where whole ids are too long.
    fn narrow_cells(&self) -> Vec<String> {
        self.cells()
    }
    /// The colour of its state.
    fn tone(&self) -> Tone {
        Tone::Plain
    }
    /// What names it.
    fn id(&self) -> String;
}

/// How good a state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing to be said.
    Plain,
    /// As it should be.
    Good,
    /// Something keeps it from going on.
    Held,
    /// Given up.
    Bad,
}

/// Whether states are coloured.
static IS_COLORED: OnceLock<bool> = OnceLock::new();

/// From now on states are coloured as the command line says.
pub(crate) fn init(color: Color) {
    let is_colored = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => env::var_os("NO_COLOR").is_none() && io::stdout().is_terminal(),
    };
    // Set by whoever called it first.
    let _ = IS_COLORED.set(is_colored);
}

/// Prints a list.
pub(crate) fn list<T: Listed>(output: Output, items: &[T]) -> Result<()> {
    match output {
        Output::Json => print(&serde_json::to_string_pretty(items)?),
        Output::Jsonl => items.iter().try_for_each(|item| print(&serde_json::to_string(item)?)),
        Output::Id => items.iter().try_for_each(|item| print(&item.id())),
        Output::Table | Output::Wide => {
            let is_wide = output == Output::Wide;
            let columns = if is_wide { T::COLUMNS.len() } else { T::NARROW };
            let rows = items.iter().map(|item| {
                let cells = if is_wide { item.cells() } else { item.narrow_cells() };
                (cells, item.tone())
            });
            print(&toned(&T::COLUMNS[..columns], rows))
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
    toned(headers, rows.into_iter().map(|row| (row, Tone::Plain)))
}

/// The same, with a colour for what stands under `state`.
fn toned(headers: &[&str], rows: impl IntoIterator<Item = (Vec<String>, Tone)>) -> String {
    let is_colored = IS_COLORED.get().copied().unwrap_or(false);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    if is_colored {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(headers.iter().map(|header| header.to_uppercase()));
    for (row, tone) in rows {
        let color = match tone {
            Tone::Plain => None,
            Tone::Good => Some(comfy_table::Color::Green),
            Tone::Held => Some(comfy_table::Color::Yellow),
            Tone::Bad => Some(comfy_table::Color::Red),
        };
        table.add_row(row.into_iter().zip(headers).map(|(cell, header)| {
            match color.filter(|_| *header == "state") {
                Some(color) => Cell::new(cell).fg(color),
                None => Cell::new(cell),
            }
        }));
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
