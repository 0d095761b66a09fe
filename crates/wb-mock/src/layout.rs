//! When the rows of a dataset were last changed, before any late update.
//!
//! Rows are numbered in order of their last change. They come in blocks of equal length that share
//! the 90 days evenly, and a block's groups of rows with one time are drawn when somebody looks at
//! it. So a time finds its row, and a row its time, without the rows in between.

use crate::clock::MoscowTime;
use crate::dice::{Dice, Topic};
use crate::table::Feed;

const BLOCK_ROWS: u64 = 1024;

/// The times of all rows of one dataset of one seller.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) seed: u64,
    pub(crate) seller: u64,
    pub(crate) feed: Feed,
    /// How many rows there are.
    pub(crate) rows: u64,
    /// No row is earlier than this.
    pub(crate) from: MoscowTime,
    /// Every row is earlier than this.
    pub(crate) until: MoscowTime,
}

/// The times of some consecutive rows.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    groups: Vec<Group>,
    end_row: u64,
}

/// Rows that share one time, up to the next group.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_row: u64,
    changed_at: MoscowTime,
}

impl Layout {
    pub(crate) fn block_of(&self, row: u64) -> Block {
        self.block(row / BLOCK_ROWS)
    }

    /// The first row changed at `time` or later; the number of rows if there is none.
    pub(crate) fn first_at_or_after(&self, time: MoscowTime) -> u64 {
        let (mut low, mut high) = (0, self.blocks());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.block_begins_at(middle + 1) <= time {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low == self.blocks() {
            return self.rows;
        }
        self.block(low).first_at_or_after(time)
    }

    fn blocks(&self) -> u64 {
        self.rows.div_ceil(BLOCK_ROWS)
    }

    fn block_begins_at(&self, block: u64) -> MoscowTime {
        let span = self.until.seconds_since(self.from);
        self.from.plus(span * block as i64 / self.blocks() as i64)
    }

    fn block(&self, index: u64) -> Block {
        let mut dice = Dice::of(self.seed, Topic::Layout, &[self.seller, self.feed as u64, index]);
        let end_row = self.rows.min((index + 1) * BLOCK_ROWS);
        let mut first_rows = vec![index * BLOCK_ROWS];
        loop {
            let next = first_rows[first_rows.len() - 1] + group_size(&mut dice);
            if next >= end_row {
                break;
            }
            first_rows.push(next);
        }

        let begins_at = self.block_begins_at(index);
        let span = self.block_begins_at(index + 1).seconds_since(begins_at);
        let count = first_rows.len() as i64;
        let groups = first_rows.into_iter().enumerate().map(|(group, first_row)| {
            let slot_start = span * group as i64 / count;
            let slot = span * (group as i64 + 1) / count - slot_start;
            let within_slot = dice.below(slot.max(1) as u64) as i64;
            Group { first_row, changed_at: begins_at.plus(slot_start + within_slot) }
        });
        Block { groups: groups.collect(), end_row }
    }
}

impl Block {
    pub(crate) fn contains(&self, row: u64) -> bool {
        (self.groups[0].first_row..self.end_row).contains(&row)
    }

    /// When `row`, which the block contains, was last changed.
    pub(crate) fn changed_at(&self, row: u64) -> MoscowTime {
        let later = self.groups.partition_point(|group| group.first_row <= row);
        self.groups[later - 1].changed_at
    }

    fn first_at_or_after(&self, time: MoscowTime) -> u64 {
        let earlier = self.groups.partition_point(|group| group.changed_at < time);
        self.groups.get(earlier).map_or(self.end_row, |group| group.first_row)
    }
}

/// Mostly a handful of rows, often some dozens, now and then hundreds.
fn group_size(dice: &mut Dice) -> u64 {
    match dice.below(100) {
        0..60 => dice.within(1..=8),
        60..96 => dice.within(1..=40),
        _ => dice.within(41..=300),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(rows: u64) -> Layout {
        let from = MoscowTime::never();
        let until = from.plus(90 * 86_400);
        Layout { seed: 3, seller: 1, feed: Feed::Orders, rows, from, until }
    }

    fn times(layout: &Layout) -> Vec<MoscowTime> {
        (0..layout.rows).map(|row| layout.block_of(row).changed_at(row)).collect()
    }

    #[test]
    fn times_never_go_back_and_stay_within_the_span() {
        for rows in [1, 2, 1023, 1024, 1025, 5000] {
            let layout = layout(rows);
            let times = times(&layout);
            assert!(times.is_sorted(), "{rows} rows");
            assert!(times[0] >= layout.from && times[times.len() - 1] < layout.until);
        }
    }

    #[test]
    fn a_time_finds_the_first_row_that_is_not_earlier() {
        let layout = layout(5000);
        let times = times(&layout);
        let probes = times.iter().flat_map(|time| [time.plus(-1), *time, time.plus(1)]);
        for probe in probes.chain([layout.from, layout.until]) {
            let expected = times.partition_point(|time| *time < probe) as u64;
            assert_eq!(layout.first_at_or_after(probe), expected);
        }
    }

    #[test]
    fn most_rows_share_their_time_with_another() {
        let times = times(&layout(5000));
        let shared = times.chunk_by(|a, b| a == b).filter(|group| group.len() > 1);
        assert!(shared.map(<[_]>::len).sum::<usize>() > 4000);
    }

    #[test]
    fn an_empty_dataset_has_no_first_row() {
        let layout = layout(0);
        assert_eq!(layout.first_at_or_after(layout.from), 0);
    }
}
