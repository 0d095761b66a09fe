//! Making rows, one at a time.

mod order;
mod product;
mod purchase;
mod sale;

use std::sync::Arc;

use chrono::NaiveDateTime;
use serde::Serialize;

use self::order::OrderRow;
use self::sale::SaleRow;
use crate::clock::MoscowTime;
use crate::dice::{Dice, Topic};
use crate::layout::Block;
use crate::table::{Feed, Selection, Table, Version};

/// A row first appears, and so is last changed, at most this long after its `date`.
pub(crate) const LAG_SECONDS_MAX: i64 = 2 * 86_400;

/// Whose rows, and of which kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) seed: u64,
    pub(crate) seller: u64,
    pub(crate) feed: Feed,
    /// Rows since then may not be complete yet.
    pub(crate) recent_from: MoscowTime,
}

impl Source {
    fn dice(&self, row: u64) -> Dice {
        Dice::of(self.seed, Topic::Row, &[self.seller, self.feed as u64, row])
    }
}

/// What has happened to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing, and nothing will.
    Settled,
    /// Nothing yet, but a late update is to come.
    AwaitsUpdate,
    /// A late update, at that time.
    Updated(MoscowTime),
}

/// All that decides a row's content.
#[derive(Clone, Copy, Debug)]
struct Origin {
    source: Source,
    row: u64,
    /// When the layout says that it was last changed.
    appeared_at: MoscowTime,
    state: State,
}

impl Origin {
    fn last_change(&self) -> MoscowTime {
        match self.state {
            State::Settled | State::AwaitsUpdate => self.appeared_at,
            State::Updated(at) => at,
        }
    }

    fn date(&self, dice: &mut Dice) -> MoscowTime {
        // Half of the rows appear within the hour; none on the second of the longest lag, so that
        // a day's rows are found by looking that far ahead.
        let limit = if dice.one_in(2) { 3600 } else { LAG_SECONDS_MAX };
        self.appeared_at.plus(-(dice.below(limit as u64) as i64))
    }

    fn make(self) -> Row {
        match self.source.feed {
            Feed::Orders => Row::Order(OrderRow::make(self)),
            Feed::Sales => Row::Sale(SaleRow::make(self)),
        }
    }
}

/// A row as it is served.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Row {
    Order(OrderRow),
    Sale(SaleRow),
}

impl Row {
    /// The natural key within the dataset.
    pub(crate) fn key(&self) -> &str {
        match self {
            Self::Order(order) => &order.srid,
            Self::Sale(sale) => &sale.sale_id,
        }
    }

    pub(crate) fn last_change_date(&self) -> NaiveDateTime {
        match self {
            Self::Order(order) => order.last_change_date.naive(),
            Self::Sale(sale) => sale.last_change_date.naive(),
        }
    }

    fn date(&self) -> MoscowTime {
        match self {
            Self::Order(order) => order.date,
            Self::Sale(sale) => sale.date,
        }
    }
}

/// The rows of a selection, in order of their last change.
#[derive(Debug)]
pub(crate) struct Rows {
    table: Arc<Table>,
    selection: Selection,
    /// The block of the row before: nearly always that of the next one too.
    block: Option<Block>,
}

impl Rows {
    pub(crate) fn new(table: Arc<Table>, selection: Selection) -> Self {
        Self { table, selection, block: None }
    }

    fn next_origin(&mut self) -> Option<Origin> {
        let version = self.selection.version;
        let source = self.table.source;
        while let Some(row) = self.selection.base.next() {
            if self.table.has_moved(version, row) {
                continue;
            }
            let awaits_update = version == Version::Early
                && self.table.late.as_ref().is_some_and(|late| late.changes(row));
            let state = if awaits_update { State::AwaitsUpdate } else { State::Settled };
            return Some(Origin { source, row, appeared_at: self.appeared_at(row), state });
        }
        let n = self.selection.late.next()?;
        let late = self.table.late.as_ref()?;
        let (row, state) = (late.row(n), State::Updated(late.changed_at(n)));
        Some(Origin { source, row, appeared_at: self.appeared_at(row), state })
    }

    fn appeared_at(&mut self, row: u64) -> MoscowTime {
        let block = self.block.take().filter(|block| block.contains(row));
        let block = block.unwrap_or_else(|| self.table.layout.block_of(row));
        self.block.insert(block).changed_at(row)
    }
}

impl Iterator for Rows {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        loop {
            let row = self.next_origin()?.make();
            if self.selection.day.is_none_or(|day| row.date().midnight_before() == day) {
                return Some(row);
            }
        }
    }
}
