//! Late updates: rows that change after they were served, and so come again at the end.

use crate::clock::MoscowTime;
use crate::dice::{Dice, Topic};
use crate::table::Feed;

/// One row in so many changes, which keeps a page that lost rows within its 5 % give or take.
const STRIPE_ROWS: u64 = 127;

/// Which rows of the first half of a dataset change, and when.
///
/// One row of every stripe of rows changes. That makes both questions arithmetic: which is the
/// `n`-th changed row, and is this row a changed one.
#[derive(Clone, Debug)]
pub(crate) struct LateUpdates {
    seed: u64,
    seller: u64,
    feed: Feed,
    /// All changed rows are before this one. The updates happen once an answer has reached it.
    pub(crate) mark: u64,
    /// How many rows change.
    pub(crate) count: u64,
    stripe_rows: u64,
    group_rows: u64,
    from: MoscowTime,
}

impl LateUpdates {
    /// Updates of a dataset of `rows` rows, with times from `from` on for at most `seconds`.
    pub(crate) fn new(
        (seed, seller, feed): (u64, u64, Feed),
        rows: u64,
        from: MoscowTime,
        seconds: u64,
    ) -> Self {
        let mark = rows.div_ceil(2);
        let stripe_rows = STRIPE_ROWS.min(mark).max(1);
        let count = mark / stripe_rows;
        let group_rows = count.div_ceil(seconds).max(4);
        Self { seed, seller, feed, mark, count, stripe_rows, group_rows, from }
    }

    /// The row that the `n`-th update changes.
    pub(crate) fn row(&self, n: u64) -> u64 {
        let mut dice = Dice::of(self.seed, Topic::Late, &[self.seller, self.feed as u64, n]);
        n * self.stripe_rows + dice.below(self.stripe_rows)
    }

    pub(crate) fn changes(&self, row: u64) -> bool {
        let n = row / self.stripe_rows;
        n < self.count && self.row(n) == row
    }

    /// When the `n`-th update happens. Some updates share one time.
    pub(crate) fn changed_at(&self, n: u64) -> MoscowTime {
        self.from.plus((n / self.group_rows) as i64)
    }

    /// The first update at `time` or later; the number of updates if there is none.
    pub(crate) fn first_at_or_after(&self, time: MoscowTime) -> u64 {
        let groups_before = time.seconds_since(self.from).max(0) as u64;
        self.count.min(groups_before.saturating_mul(self.group_rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updates(rows: u64) -> LateUpdates {
        LateUpdates::new((3, 1, Feed::Sales), rows, MoscowTime::never(), 1500)
    }

    #[test]
    fn every_update_changes_a_row_of_its_own_before_the_mark() {
        for rows in [0, 1, 2, 200, 10_000] {
            let updates = updates(rows);
            let changed: Vec<u64> = (0..updates.count).map(|n| updates.row(n)).collect();
            let recognized: Vec<u64> = (0..rows).filter(|row| updates.changes(*row)).collect();
            assert_eq!(changed, recognized, "{rows} rows");
            assert!(changed.iter().all(|row| *row < updates.mark));
        }
        assert!(updates(10_000).count > 30);
    }

    #[test]
    fn a_time_finds_the_first_update_that_is_not_earlier() {
        let updates = updates(1_000_000);
        let last = updates.changed_at(updates.count - 1);
        assert!(last.seconds_since(updates.from) < 1500);
        for seconds in -1..=last.seconds_since(updates.from) + 2 {
            let time = updates.from.plus(seconds);
            let expected = (0..updates.count).find(|n| updates.changed_at(*n) >= time);
            assert_eq!(updates.first_at_or_after(time), expected.unwrap_or(updates.count));
        }
    }
}
