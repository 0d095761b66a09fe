//! One dataset of one seller: which rows answer a query.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::MockConfig;
use crate::clock::MoscowTime;
use crate::date_from::{DateFrom, PageQuery};
use crate::dice::{Dice, Topic};
use crate::late::LateUpdates;
use crate::layout::Layout;
use crate::rows::{LAG_SECONDS_MAX, Rows, Source};

const DAY_SECONDS: i64 = 86_400;

/// The upstream's numbers are half an hour old, so no row is younger; late updates are.
const FRESHNESS_SECONDS: u64 = 30 * 60;

/// The datasets that are followed by `lastChangeDate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feed {
    Orders,
    Sales,
}

/// One dataset of one seller. Nothing of it is in memory but how to make it.
///
/// Rows have a *place* in the order of `lastChangeDate`: first the rows of the layout, and behind
/// them the late updates. When the updates have happened, the places that the changed rows had in
/// the layout stay empty.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) source: Source,
    pub(crate) layout: Layout,
    /// None if rows of this mock do not change.
    pub(crate) late: Option<LateUpdates>,
    page_rows: u64,
    late_have_happened: AtomicBool,
}

/// Before the late updates or after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// As it is at the start.
    Early,
    /// As it is at the end. Without late updates there is no difference.
    Final,
}

/// The rows of one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) version: Version,
    /// Rows of the layout, the empty places included.
    pub(crate) base: Range<u64>,
    /// Late updates.
    pub(crate) late: Range<u64>,
    /// If set, only rows whose `date` is on the day that begins here.
    pub(crate) day: Option<MoscowTime>,
}

impl Table {
    pub(crate) fn new(config: &MockConfig, seller: usize, feed: Feed) -> Self {
        let rows = config.sizes.of(feed).draw(config, seller, feed);
        let now = MoscowTime::from_utc(config.now);
        let from = now.plus(-90 * DAY_SECONDS);
        let until = now.plus(-(FRESHNESS_SECONDS as i64));
        let (seed, seller) = (config.seed, seller as u64);
        Self {
            source: Source { seed, seller, feed, recent_from: now.plus(-DAY_SECONDS) },
            layout: Layout { seed, seller, feed, rows, from, until },
            late: config
                .late_updates
                .then(|| LateUpdates::new((seed, seller, feed), rows, until, FRESHNESS_SECONDS)),
            page_rows: u64::from(config.page_rows),
            late_have_happened: AtomicBool::new(false),
        }
    }

    /// Which rows answer a query now. An answer that reaches the middle of the dataset makes the
    /// late updates happen, for every query after it.
    pub(crate) fn answer(&self, query: PageQuery) -> Selection {
        let version = self.version();
        let selection = self.select(version, query);
        if self.reaches_the_mark(&selection) {
            self.late_have_happened.store(true, Ordering::Release);
        }
        selection
    }

    /// All rows as they are at the end.
    pub(crate) fn at_the_end(&self) -> Selection {
        Selection {
            version: Version::Final,
            base: 0..self.layout.rows,
            late: 0..self.late_count(Version::Final),
            day: None,
        }
    }

    /// How many rows there are. Late updates change rows, but add none.
    pub(crate) fn rows_count(&self) -> u64 {
        self.layout.rows
    }

    pub(crate) fn rows(self: &Arc<Self>, selection: Selection) -> Rows {
        Rows::new(Arc::clone(self), selection)
    }

    /// How many requests an import takes that starts at the beginning, follows `lastChangeDate`,
    /// and stops at the first page with nothing new in it.
    pub(crate) fn import_requests(&self) -> u64 {
        let mut version = if self.late.is_some() { Version::Early } else { Version::Final };
        let mut from = DateFrom::from(self.layout.from);
        let mut seen = 0;
        for requests in 1.. {
            let page = self.select(version, PageQuery::ChangedSince(from));
            let end = self.end_of(&page);
            if end <= seen {
                return requests;
            }
            seen = end;
            from = self.changed_at(end - 1).into();
            if self.reaches_the_mark(&page) {
                version = Version::Final;
            }
        }
        unreachable!("each page but the last has something new")
    }

    /// Whether the row has left its place in the layout.
    pub(crate) fn has_moved(&self, version: Version, row: u64) -> bool {
        version == Version::Final && self.late.as_ref().is_some_and(|late| late.changes(row))
    }

    fn version(&self) -> Version {
        if self.late.is_none() || self.late_have_happened.load(Ordering::Acquire) {
            Version::Final
        } else {
            Version::Early
        }
    }

    fn reaches_the_mark(&self, selection: &Selection) -> bool {
        let base = &selection.base;
        self.late.as_ref().is_some_and(|late| !base.is_empty() && base.end >= late.mark)
    }

    fn select(&self, version: Version, query: PageQuery) -> Selection {
        match query {
            PageQuery::ChangedSince(from) => self.page(version, from),
            PageQuery::OfDay(from) => self.day(version, from.midnight()),
        }
    }

    /// A page holds about as many rows as the cap says, but always one that is later than
    /// `dateFrom` if there is any: else a client that goes on from the last row would ask the same
    /// again for ever. And if there is none, it holds all of the last group.
    fn page(&self, version: Version, from: DateFrom) -> Selection {
        let places = self.places(version);
        let start = self.first_place(version, from.ceiling());
        let mut later = self.first_place(version, from.next_second());
        while later < self.layout.rows && self.has_moved(version, later) {
            later += 1;
        }
        let end = (start + self.soft_cap(start)).max(later + 1).min(places);
        let rows = self.layout.rows;
        Selection {
            version,
            base: start.min(rows)..end.min(rows),
            late: start.max(rows) - rows..end.max(rows) - rows,
            day: None,
        }
    }

    /// All rows whose `date` is on that day. A row changes at most [`LAG_SECONDS_MAX`] after its
    /// date, unless it changes late.
    fn day(&self, version: Version, midnight: MoscowTime) -> Selection {
        let until = midnight.plus(DAY_SECONDS + LAG_SECONDS_MAX);
        Selection {
            version,
            base: self.layout.first_at_or_after(midnight)..self.layout.first_at_or_after(until),
            late: 0..self.late_count(version),
            day: Some(midnight),
        }
    }

    fn soft_cap(&self, start: u64) -> u64 {
        let Source { seed, seller, feed, .. } = self.source;
        let mut dice = Dice::of(seed, Topic::Page, &[seller, feed as u64, start]);
        (self.page_rows * dice.within(960..=1040) / 1000).max(1)
    }

    fn late_count(&self, version: Version) -> u64 {
        match (version, &self.late) {
            (Version::Final, Some(late)) => late.count,
            _ => 0,
        }
    }

    fn places(&self, version: Version) -> u64 {
        self.layout.rows + self.late_count(version)
    }

    fn first_place(&self, version: Version, time: MoscowTime) -> u64 {
        let row = self.layout.first_at_or_after(time);
        match (version, &self.late) {
            (Version::Final, Some(late)) if row == self.layout.rows => {
                row + late.first_at_or_after(time)
            }
            _ => row,
        }
    }

    /// The place behind the selection's last row, empty places left out.
    fn end_of(&self, selection: &Selection) -> u64 {
        if !selection.late.is_empty() {
            return self.layout.rows + selection.late.end;
        }
        let mut end = selection.base.end;
        while end > selection.base.start && self.has_moved(selection.version, end - 1) {
            end -= 1;
        }
        end
    }

    fn changed_at(&self, place: u64) -> MoscowTime {
        match (&self.late, place.checked_sub(self.layout.rows)) {
            (Some(late), Some(n)) => late.changed_at(n),
            _ => self.layout.block_of(place).changed_at(place),
        }
    }
}
