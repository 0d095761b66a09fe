use anyhow::Result;
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
        Output::Json => println!("{}", serde_json::to_string_pretty(items)?),
        Output::Jsonl => {
            for item in items {
                println!("{}", serde_json::to_string(item)?);
            }
        }
        Output::Id => {
            for item in items {
                println!("{}", item.id());
            }
        }
        Output::Table | Output::Wide => {
            let columns = if output == Output::Wide {
                T::COLUMNS.len()
            } else {
                T::NARROW
            };
            let mut table = Table::new();
            table.load_style(presets::NOTHING);
            table.set_header(
                T::COLUMNS[..columns]
                    .iter()
                    .map(|column| column.to_uppercase()),
            );
            for item in items {
                table.add_row(item.cells().into_iter().take(columns));
            }
            println!(
                "{}",
                table
                    .lines()
                    .map(|line| line.trim_end().to_owned())
                    .collect::<Vec<_>>()
                    .join("\n")
            );
        }
    }
    Ok(())
}

/// Prints one thing: as JSON, its id, or the text that `people` makes of it.
pub(crate) fn one<T: Serialize>(
    output: Output,
    item: &T,
    id: &str,
    people: impl FnOnce(&T) -> String,
) -> Result<()> {
    match output {
        Output::Json => println!("{}", serde_json::to_string_pretty(item)?),
        Output::Jsonl => println!("{}", serde_json::to_string(item)?),
        Output::Id => println!("{id}"),
        Output::Table | Output::Wide => println!("{}", people(item).trim_end()),
    }
    Ok(())
}
