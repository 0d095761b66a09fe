//! Advertising statistics, a row a campaign and day.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use waitless_job::UnixMillis;

use super::{
    campaigns::{self, LIST},
    days::Days,
};
use crate::{
    Dataset,
    key::Fields,
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
};

const ENDPOINT: &str = "promotion.fullstats";

/// Most days of one request.
const DAYS_MAX: u64 = 31;

/// How far it has come: first the list of campaigns, then chunk by chunk of them, window by window
/// of days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// All days that are asked for.
    pub(crate) days: Days,
    /// The days of the first chunk that have not landed.
    left: Days,
    /// The campaigns that have not landed; `None` before they are known.
    ids: Option<Vec<u64>>,
}

#[derive(Debug)]
pub(crate) struct CampaignStats {
    days: Days,
    /// Most campaigns of one request.
    chunk: usize,
}

impl CampaignStats {
    pub(crate) fn of(scope: &Scope<'_>) -> Self {
        let chunk = usize::try_from(scope.page_rows(ENDPOINT, 50)).unwrap_or(50);
        Self { days: Days { start: scope.since.min(scope.today), end: scope.today }, chunk }
    }

    fn window(cursor: &Cursor) -> Days {
        cursor.left.first(DAYS_MAX)
    }
}

/// The days of a campaign's statistics. Its totals are left out: they are those of whatever window
/// was asked for.
fn days_of(row: &RawValue) -> Result<Vec<Read>, String> {
    let fields = Fields::of(row)?;
    let id = fields.filled("advertId")?;
    let day = |day: &RawValue| -> Read {
        let date = Fields::of(day)?.filled("date")?;
        let body = Some(fields.with(&["advertId", "currency"], day)?);
        Ok(Keyed { key: format!("{id}/{date}"), version: String::new(), body })
    };
    Ok(fields.list("days")?.into_iter().map(day).collect())
}

/// The numbers of the campaigns in one list, and reasons for those that have none.
fn ids_of(row: &RawValue) -> Vec<Result<u64, String>> {
    let id = |one: &RawValue| {
        let text = Fields::of(one)?.filled("advertId")?;
        text.parse().map_err(|_| "`advertId` is no number of a campaign".to_owned())
    };
    match Fields::of(row).and_then(|fields| fields.list(LIST)) {
        Ok(list) => list.into_iter().map(id).collect(),
        Err(reason) => vec![Err(reason)],
    }
}

impl Source for CampaignStats {
    type Cursor = Cursor;
    /// Numbers of campaigns.
    type Seen = Vec<u64>;

    fn begin(&self, _now: UnixMillis) -> Next<Cursor> {
        Next::Ask(Cursor { days: self.days, left: self.days, ids: None })
    }

    fn within_reach(&self, cursor: Cursor, now: UnixMillis) -> Cursor {
        let reach = Dataset::CampaignStats.reach(now);
        let days = cursor.days.within(reach);
        if days.end != cursor.days.end {
            // All campaigns anew: those that have landed lack the days as well.
            return Cursor { days, left: days, ids: None };
        }
        Cursor { days, left: cursor.left.within(reach), ..cursor }
    }

    fn ask(&self, cursor: &Cursor) -> Ask {
        let Some(ids) = &cursor.ids else { return campaigns::ask() };
        let ids: Vec<String> = ids.iter().take(self.chunk).map(u64::to_string).collect();
        let window = Self::window(cursor);
        Ask::new(ENDPOINT, Expect::Rows(&[]))
            .query("ids", ids.join(","))
            .query("beginDate", window.start)
            .query("endDate", window.end)
    }

    fn read(&self, cursor: &Cursor, row: &RawValue, seen: &mut Vec<u64>) -> Vec<Read> {
        if cursor.ids.is_some() {
            return days_of(row).unwrap_or_else(|reason| vec![Err(reason)]);
        }
        let mut bad = Vec::new();
        for id in ids_of(row) {
            match id {
                Ok(id) => seen.push(id),
                Err(reason) => bad.push(Err(format!("its statistics cannot be asked: {reason}"))),
            }
        }
        bad
    }

    fn next(&self, cursor: &Cursor, page: &Page<Vec<u64>>, _now: UnixMillis) -> Next<Cursor> {
        let rest = match &cursor.ids {
            None => {
                let mut ids = page.seen.clone();
                ids.sort_unstable();
                ids.dedup();
                ids
            }
            Some(ids) => match cursor.left.behind(Self::window(cursor)) {
                Some(left) => return Next::Ask(Cursor { left, ..cursor.clone() }),
                None => ids.iter().skip(self.chunk).copied().collect(),
            },
        };
        if rest.is_empty() {
            return Next::End;
        }
        Next::Ask(Cursor { days: cursor.days, left: cursor.days, ids: Some(rest) })
    }

    /// Chunks of campaigns times windows of days.
    fn requests_total(&self, cursor: &Cursor, done: u64, _now: UnixMillis) -> Option<u64> {
        let chunks = cursor.ids.as_ref()?.len().div_ceil(self.chunk) as u64;
        let of_others = chunks.saturating_sub(1) * cursor.days.windows(DAYS_MAX);
        Some(done + of_others + cursor.left.windows(DAYS_MAX))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::datasets::play::{Ended, Told, play, scoped, small_pages};

    fn stats(since: &str) -> CampaignStats {
        small_pages(ENDPOINT, 2, since, CampaignStats::of)
    }

    fn lists(ids: &[u64]) -> Told {
        let one = |id| json!({ "advertId": id, "changeTime": "2025-05-30T08:50:14Z" });
        let list: Vec<Value> = ids.iter().map(one).collect();
        Told::Rows(vec![json!({ "type": 9, "status": 9, "advert_list": list })], Value::Null)
    }

    /// A day of each campaign asked for: the first of the window.
    fn days(ask: &Ask) -> Told {
        let day = format!("{}T00:00:00Z", ask.query[1].1);
        let row = |id: &str| {
            let id: u64 = id.parse().unwrap();
            let day = json!({ "date": day, "views": 5, "apps": [{ "appType": 1 }] });
            json!({ "advertId": id, "views": 99, "days": [day], "currency": "RUB" })
        };
        Told::Rows(ask.query[0].1.split(',').map(row).collect(), Value::Null)
    }

    #[test]
    fn the_list_of_campaigns_is_asked_in_chunks_and_windows_of_days() {
        let played = play(&stats("2026-07-03"), None, |ask, time| {
            if time == 0 { lists(&[3, 1, 2, 3]) } else { days(ask) }
        });
        assert_eq!(played.query("ids"), ["", "1,2", "1,2", "1,2", "3", "3", "3"]);
        let begins = ["2026-07-03", "2026-08-03", "2026-09-03"];
        assert_eq!(played.query("beginDate")[1..4], begins);
        assert_eq!(played.query("beginDate")[4..7], begins);
        assert_eq!(played.query("endDate")[1..4], ["2026-08-02", "2026-09-02", "2026-10-01"]);
        assert_eq!(played.totals, [Some(7); 6]);
        assert_eq!((played.rows.len(), &played.ended), (9, &Ended::Complete));
        let row = json!({
            "advertId": 2, "currency": "RUB", "date": "2026-08-03T00:00:00Z", "views": 5,
            "apps": [{ "appType": 1 }],
        });
        assert_eq!(played.rows["2/2026-08-03T00:00:00Z"], (String::new(), row));
    }

    #[test]
    fn fifty_campaigns_are_asked_at_once() {
        let ids: Vec<u64> = (0..51).collect();
        let played = play(&scoped("2026-10-01", CampaignStats::of), None, |ask, time| {
            if time == 0 { lists(&ids) } else { days(ask) }
        });
        assert_eq!(played.asks.len(), 3);
        assert_eq!(played.query("ids")[2], "50");
    }

    #[test]
    fn a_seller_without_campaigns_takes_one_request() {
        for none in [vec![], vec![json!({ "advert_list": [] })]] {
            let played =
                play(&stats("2026-07-03"), None, |_, _| Told::Rows(none.clone(), Value::Null));
            assert_eq!((played.asks.len(), played.ended), (1, Ended::Complete));
        }
    }

    #[test]
    fn what_cannot_be_keyed_says_why_and_leaves_the_rest_alone() {
        let played = play(&stats("2026-10-01"), None, |_, time| match time {
            0 => {
                let list = json!([{ "advertId": 1 }, { "advertId": null }, { "advertId": "x" }]);
                Told::Rows(vec![json!({ "advert_list": list })], Value::Null)
            }
            _ => Told::Rows(
                vec![
                    json!({ "advertId": 1, "days": [{ "date": "d" }, { "date": "" }, 7] }),
                    json!({ "advertId": null, "days": [{ "date": "d" }] }),
                    json!({ "advertId": 2, "days": null }),
                    json!({ "advertId": 3, "days": [] }),
                ],
                Value::Null,
            ),
        });
        assert_eq!(played.keys(), ["1/d"]);
        let reasons = [
            "its statistics cannot be asked: `advertId` is null",
            "its statistics cannot be asked: `advertId` is no number of a campaign",
            "`date` is empty",
            "it is no row: invalid type: integer `7`, expected a map at line 1 column 1",
            "`advertId` is null",
            "`days` is no list",
        ];
        assert_eq!(played.rejects, reasons);
    }
}
