//! The sales funnel of up to a year, a row a product and day: a report in a file.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use uuid::{NoContext, Timestamp, Uuid};
use waitless_job::UnixMillis;

use super::{
    days::Days,
    watch::{LOST_MAX, Polled, Status, Watch},
};
use crate::{
    Dataset,
    key::{Fields, Key, part},
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
};

const CREATE: &str = "analytics.nm-report.create";
const LIST: &str = "analytics.nm-report.list";
const DOWNLOAD: &str = "analytics.nm-report.download";
const KEY: Key = Key::of(&[part("nmID"), part("dt")]);

/// How long a report is kept.
const LIFETIME_MS: u64 = 48 * 3_600_000;

/// Where the report is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    days: Days,
    /// The report's id, which we choose. It is saved before the report is created: whatever is cut
    /// off then, the same report is asked for again, and not one more of the 20 of a day.
    id: Uuid,
    step: Step,
    /// Reports in a row that came to nothing.
    #[serde(default)]
    lost: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Step {
    Create,
    Poll { watch: Watch },
    Download { created_at: UnixMillis },
}

#[derive(Debug)]
pub(crate) struct FunnelCsv {
    days: Days,
    /// The id of the next report, should one be needed. One is enough: the attempt ends where an id
    /// is taken, so that it is saved.
    id: Uuid,
    /// The first wait for a report, and by what the waits grow.
    interval_ms: u64,
}

impl FunnelCsv {
    pub(crate) fn of(scope: &Scope<'_>, id: Uuid) -> Self {
        Self {
            days: Days::until_yesterday(scope.since, scope.today),
            id,
            interval_ms: scope.interval_ms(LIST),
        }
    }

    /// A new report; the cursor is saved first.
    fn create(&self, days: Days, lost: u32) -> Cursor {
        Cursor { days, id: self.id, step: Step::Create, lost }
    }

    fn lost(&self, cursor: &Cursor, why: &str) -> Next<Cursor> {
        let lost = cursor.lost.saturating_add(1);
        if lost < LOST_MAX {
            return Next::Wait {
                cursor: self.create(cursor.days, lost),
                wait_ms: self.interval_ms,
            };
        }
        Next::Stuck {
            reason: format!(
                "{LOST_MAX} reports in a row came to nothing, the last because {why}: retry the job \
                 later"
            ),
            cursor: Some(self.create(cursor.days, 0)),
        }
    }

    fn created(
        &self,
        cursor: &Cursor,
        refusal: Option<&(u16, String)>,
        now: UnixMillis,
    ) -> Next<Cursor> {
        match refusal {
            Some((status, words)) if !is_there_already(*status, words) => {
                Next::stuck(format!("the upstream refuses to make the report ({status}): {words}"))
            }
            _ => Next::Wait {
                cursor: Cursor { step: Step::Poll { watch: Watch::new(now) }, ..cursor.clone() },
                wait_ms: self.interval_ms,
            },
        }
    }

    fn polled(
        &self,
        cursor: &Cursor,
        watch: &Watch,
        envelope: &Value,
        now: UnixMillis,
    ) -> Next<Cursor> {
        let step = |step| Cursor { step, ..cursor.clone() };
        let name = status_of(envelope, cursor.id);
        let status = match name.as_deref() {
            Some("SUCCESS") => Status::Done,
            // RETRY is the upstream's own second try.
            Some("WAITING" | "PROCESSING" | "RETRY") => Status::UnderWay,
            Some("FAILED") => Status::Lost,
            Some(other) => Status::Unknown(other),
            // Not listed yet, or not any more.
            None => Status::Unknown("not listed"),
        };
        match watch.polled(status, self.interval_ms, LIFETIME_MS, now) {
            Polled::Download => Next::Ask(step(Step::Download { created_at: watch.created_at })),
            Polled::Wait(watch, wait_ms) => {
                Next::Wait { cursor: step(Step::Poll { watch }), wait_ms }
            }
            Polled::Lost(why) => self.lost(cursor, &why),
        }
    }
}

/// Whether a refusal says that there is a report of this id: an earlier request for it came through
/// whose answer did not.
fn is_there_already(status: u16, words: &str) -> bool {
    let words = words.to_lowercase();
    // Not `exists`: a 400 also says that a subject of ours does not exist.
    let says_so = ["already", "уже"].iter().any(|word| words.contains(word));
    status == 409 || (status == 400 && says_so)
}

/// The status of our report in the list.
fn status_of(envelope: &Value, id: Uuid) -> Option<String> {
    let is_ours = |one: &&Value| {
        let text = one.get("id").and_then(Value::as_str);
        text.and_then(|text| text.parse::<Uuid>().ok()) == Some(id)
    };
    let ours = envelope.get("data")?.as_array()?.iter().find(is_ours)?;
    Some(match ours.get("status") {
        Some(Value::String(status)) => status.clone(),
        other => other.map_or("missing".to_owned(), Value::to_string),
    })
}

/// An id for a report.
pub(crate) fn new_id(now: UnixMillis) -> Uuid {
    let ms = u64::try_from(now.0).unwrap_or(0);
    let nanos = u32::try_from(ms % 1_000).expect("below 1,000") * 1_000_000;
    Uuid::new_v7(Timestamp::from_unix(NoContext, ms / 1_000, nanos))
}

impl Source for FunnelCsv {
    type Cursor = Cursor;
    type Seen = ();

    fn begin(&self, _now: UnixMillis) -> Next<Cursor> {
        Next::Wait { cursor: self.create(self.days, 0), wait_ms: 0 }
    }

    /// A report that the upstream has thrown away by now is not asked for.
    fn resume(&self, cursor: Cursor, now: UnixMillis) -> Next<Cursor> {
        let created_at = match &cursor.step {
            Step::Create => return Next::Ask(cursor),
            Step::Poll { watch } => watch.created_at,
            Step::Download { created_at } => *created_at,
        };
        if now.since(created_at) < LIFETIME_MS {
            return Next::Ask(cursor);
        }
        self.lost(&cursor, "it was not fetched within the time that reports are kept")
    }

    /// A report that was created keeps its days.
    fn within_reach(&self, cursor: Cursor, now: UnixMillis) -> Cursor {
        match cursor.step {
            Step::Create => {
                let reach = Dataset::FunnelCsv.reach_until_yesterday(now);
                Cursor { days: cursor.days.within(reach), ..cursor }
            }
            Step::Poll { .. } | Step::Download { .. } => cursor,
        }
    }

    fn ask(&self, cursor: &Cursor) -> Ask {
        match &cursor.step {
            Step::Create => Ask::new(CREATE, Expect::Json).refusals_tell().body(json!({
                "id": cursor.id,
                "reportType": "DETAIL_HISTORY_REPORT",
                "params": {
                    "startDate": cursor.days.start,
                    "endDate": cursor.days.end,
                    "timezone": "Europe/Moscow",
                    "aggregationLevel": "day",
                },
            })),
            Step::Poll { .. } => {
                Ask::new(LIST, Expect::Json).query("filter[downloadIds]", cursor.id)
            }
            Step::Download { .. } => {
                Ask::new(DOWNLOAD, Expect::Report).place("downloadId", cursor.id).refusals_tell()
            }
        }
    }

    fn read(&self, _cursor: &Cursor, row: &RawValue, _seen: &mut ()) -> Vec<Read> {
        let key = Fields::of(row).and_then(|fields| KEY.read(&fields));
        vec![key.map(Keyed::plain)]
    }

    fn next(&self, cursor: &Cursor, page: &Page<()>, now: UnixMillis) -> Next<Cursor> {
        match (&cursor.step, &page.refusal) {
            (Step::Create, refusal) => self.created(cursor, refusal.as_ref(), now),
            (_, Some((404, _))) => {
                self.lost(cursor, "the upstream does not know it any more (404)")
            }
            (_, Some((status, words))) => Next::stuck(format!(
                "the upstream refuses to hand out a report it has made ({status}): {words}"
            )),
            (Step::Poll { watch }, None) => self.polled(cursor, watch, &page.envelope, now),
            (Step::Download { .. }, None) => Next::End,
        }
    }

    /// Three requests, if nothing has to be polled twice.
    fn requests_total(&self, cursor: &Cursor, done: u64, _now: UnixMillis) -> Option<u64> {
        Some(
            done + match cursor.step {
                Step::Create => 3,
                Step::Poll { .. } => 2,
                Step::Download { .. } => 1,
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::play::{Ended, NOON, Told, play, scoped};

    /// As good as random. A real attempt has one id; here all of them have.
    const ID: Uuid = Uuid::from_u128(0x0199_9d5f_5c00_7000_8000_0000_0000_0001);

    fn funnel() -> FunnelCsv {
        scoped("2025-10-01", |scope| FunnelCsv::of(scope, ID))
    }

    /// An upstream that says what `status` says of the report, at its so manieth poll.
    fn upstream(mut status: impl FnMut(usize) -> Value) -> impl FnMut(&Ask, usize) -> Told {
        let mut polls = 0;
        move |ask, _| match ask.endpoint {
            CREATE => Told::Json(json!({ "data": "Начато формирование файла/отчета" })),
            LIST => {
                polls += 1;
                Told::Json(json!({ "data": [{ "id": ID, "status": status(polls), "size": 7 }] }))
            }
            _ => Told::Rows(vec![json!({ "nmID": "17", "dt": "2026-09-30" })], Value::Null),
        }
    }

    #[test]
    fn the_id_is_saved_before_the_report_is_created() {
        let Next::Wait { cursor, wait_ms: 0 } = funnel().begin(NOON) else {
            panic!("an attempt ends with its checkpoint saved");
        };
        assert_eq!((cursor.id, &cursor.step), (ID, &Step::Create));
        // Whatever happens to the request, the next attempt sends the same one.
        let saved = serde_json::to_string(&cursor).unwrap();
        let again = scoped("2025-10-02", |scope| FunnelCsv::of(scope, Uuid::nil()));
        let played = play(&again, Some(&saved), upstream(|_| json!("SUCCESS")));
        assert_eq!(played.asks[0], funnel().ask(&cursor));
        assert_eq!(played.body("/id")[0], json!(ID));
    }

    #[test]
    fn a_report_is_created_polled_and_downloaded() {
        let statuses = ["WAITING", "PROCESSING", "RETRY", "SUCCESS"];
        let played = play(&funnel(), None, upstream(|poll| json!(statuses[poll - 1])));
        let asked: Vec<&str> = played.asks.iter().map(|ask| ask.endpoint).collect();
        assert_eq!(asked, [CREATE, LIST, LIST, LIST, LIST, DOWNLOAD]);
        assert_eq!(played.waits, [0, 20_000, 40_000, 60_000, 80_000]);
        assert_eq!(
            played.body("")[0],
            json!({
                "id": ID,
                "reportType": "DETAIL_HISTORY_REPORT",
                "params": {
                    "startDate": "2025-10-01", "endDate": "2026-09-30", "timezone": "Europe/Moscow",
                    "aggregationLevel": "day",
                },
            })
        );
        assert_eq!(played.query("filter[downloadIds]")[1], ID.to_string());
        assert_eq!(played.asks[5].places, [("downloadId", ID.to_string())]);
        assert_eq!((played.keys(), &played.ended), (vec!["17/2026-09-30"], &Ended::Complete));
    }

    #[test]
    fn a_report_that_is_there_already_counts_as_created_and_other_refusals_do_not() {
        for (status, words) in [
            (400, "Report with this id already exists"),
            (400, "Отчёт с таким id уже существует"),
            (409, "conflict"),
        ] {
            let mut inner = upstream(|_| json!("SUCCESS"));
            let played = play(&funnel(), None, |ask, time| {
                if time == 0 { Told::Refused(status, words) } else { inner(ask, time) }
            });
            assert_eq!(played.ended, Ended::Complete);
        }
        for (status, words) in
            [(400, "endDate: not valid"), (400, "subject not exists"), (422, "already too many")]
        {
            let played = play(&funnel(), None, |_, _| Told::Refused(status, words));
            let reason = format!("the upstream refuses to make the report ({status}): {words}");
            assert_eq!(played.stuck(), reason);
        }
    }

    #[test]
    fn reports_that_come_to_nothing_are_created_anew_and_at_last_given_up() {
        let played = play(&funnel(), None, upstream(|poll| json!(["FAILED", "SUCCESS"][poll - 1])));
        assert_eq!((played.asks.len(), &played.ended), (5, &Ended::Complete));
        let played = play(&funnel(), None, upstream(|_| json!("FAILED")));
        assert_eq!(played.asks.len(), 10);
        assert!(played.stuck().starts_with("5 reports in a row"), "{}", played.stuck());
        let again = play(&funnel(), Some(&played.checkpoint), upstream(|_| json!("SUCCESS")));
        assert_eq!(again.ended, Ended::Complete);
        let mut inner = upstream(|_| json!("SUCCESS"));
        let gone = play(&funnel(), None, |ask, time| {
            if time == 2 { Told::Refused(404, "") } else { inner(ask, time) }
        });
        assert_eq!((gone.asks.len(), gone.ended), (6, Ended::Complete));
    }

    #[test]
    fn a_new_report_has_a_new_id() {
        let days =
            Days { start: "2026-09-01".parse().unwrap(), end: "2026-09-30".parse().unwrap() };
        let step = Step::Poll { watch: Watch::new(NOON) };
        let old = Cursor { days, id: Uuid::nil(), step, lost: 1 };
        match funnel().lost(&old, "it failed") {
            Next::Wait { cursor, .. } => assert_eq!((cursor.id, cursor.lost), (ID, 2)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_report_that_is_not_listed_or_has_an_odd_status_is_polled_thirty_times() {
        let odd = [
            json!({ "data": [] }),
            json!({}),
            json!({ "data": 7 }),
            json!({ "data": [{ "id": "x" }] }),
        ];
        for list in odd {
            let mut polls = 0;
            let played = play(&funnel(), None, |ask, time| match ask.endpoint {
                LIST if polls < 30 => {
                    polls += 1;
                    Told::Json(list.clone())
                }
                _ => upstream(|_| json!("SUCCESS"))(ask, time),
            });
            assert_eq!((played.asks.len(), &played.ended), (1 + 30 + 3, &Ended::Complete));
        }
        let played = play(
            &funnel(),
            None,
            upstream(|poll| if poll <= 30 { Value::Null } else { json!("SUCCESS") }),
        );
        assert_eq!(played.asks.len(), 34);
    }

    #[test]
    fn a_file_that_was_thrown_away_while_the_job_waited_is_made_anew() {
        let old = NOON.0 - 48 * 3_600_000;
        let days = r#"{"start":"2026-09-01","end":"2026-09-30"}"#;
        let step = format!(r#"{{"download":{{"created_at":{old}}}}}"#);
        let saved = format!(r#"{{"days":{days},"id":"{}","step":{step}}}"#, Uuid::nil());
        let played = play(&funnel(), Some(&saved), upstream(|_| json!("SUCCESS")));
        assert_eq!((played.asks.len(), played.asks[0].endpoint), (3, CREATE));
        assert_eq!(played.body("/params/startDate")[0], json!("2026-09-01"), "of the same days");
    }
}
