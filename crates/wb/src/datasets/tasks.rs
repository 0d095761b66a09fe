//! Reports that are tasks: created, polled, downloaded, a window of days each.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use waitless_job::UnixMillis;

use super::{
    days::Days,
    watch::{LOST_MAX, Polled, Status, Watch},
};
use crate::{
    Dataset,
    key::{Fields, Key, part, part_or_empty},
    scope::Scope,
    source::{Ask, Expect, Keyed, Next, Page, Read, Source},
};

/// How long tasks are kept. Only third parties say two hours, so a task that is gone earlier is no
/// surprise either.
const LIFETIME_MS: u64 = 2 * 3_600_000;

/// Characters of a task's id at most. Ids are UUIDs.
const ID_CHARS_MAX: usize = 128;

/// What one report has that the others have not.
#[derive(Debug)]
struct Report {
    dataset: Dataset,
    create: &'static str,
    status: &'static str,
    download: &'static str,
    /// Most days of a task; `None` for a report of what is now.
    days_max: Option<u64>,
    /// What is asked for beside the days.
    options: &'static [(&'static str, &'static str)],
    key: Key,
}

const REMAINS: Report = Report {
    dataset: Dataset::Remains,
    create: "analytics.warehouse-remains.create",
    status: "analytics.warehouse-remains.status",
    download: "analytics.warehouse-remains.download",
    days_max: None,
    // Only the fields of what is grouped by come at all.
    options: &[
        ("groupByBrand", "true"),
        ("groupBySubject", "true"),
        ("groupBySa", "true"),
        ("groupByNm", "true"),
        ("groupByBarcode", "true"),
        ("groupBySize", "true"),
    ],
    key: Key::of(&[part("nmId"), part_or_empty("barcode"), part_or_empty("techSize")]),
};

const ACCEPTANCE: Report = Report {
    dataset: Dataset::Acceptance,
    create: "analytics.acceptance-report.create",
    status: "analytics.acceptance-report.status",
    download: "analytics.acceptance-report.download",
    days_max: Some(31),
    options: &[],
    key: Key::of(&[part("incomeId"), part("nmID"), part("giCreateDate"), part("shkCreateDate")]),
};

const STORAGE: Report = Report {
    dataset: Dataset::Storage,
    create: "analytics.paid-storage.create",
    status: "analytics.paid-storage.status",
    download: "analytics.paid-storage.download",
    days_max: Some(8),
    options: &[],
    // Goods on pallets have a code of the pallet's place, others a barcode.
    key: Key::of(&[
        part("date"),
        part("officeId"),
        part("giId"),
        part("chrtId"),
        part_or_empty("barcode"),
        part_or_empty("calcType"),
        part_or_empty("palletPlaceCode"),
    ]),
};

/// How far the windows have come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// The days that have not landed.
    pub(crate) days: Days,
    /// Where the task of the first window of them is.
    step: Step,
    /// Tasks of this window, in a row, that came to nothing.
    #[serde(default)]
    lost: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Step {
    Create,
    Poll { task: String, watch: Watch },
    Download { task: String, created_at: UnixMillis },
}

/// Reports of one kind.
#[derive(Debug)]
pub(crate) struct Tasks {
    report: &'static Report,
    days: Days,
    /// The first wait for a task, and by what the waits grow.
    interval_ms: u64,
}

impl Tasks {
    pub(crate) fn remains(scope: &Scope<'_>) -> Self {
        Self::of(&REMAINS, scope)
    }

    pub(crate) fn acceptance(scope: &Scope<'_>) -> Self {
        Self::of(&ACCEPTANCE, scope)
    }

    pub(crate) fn storage(scope: &Scope<'_>) -> Self {
        Self::of(&STORAGE, scope)
    }

    fn of(report: &'static Report, scope: &Scope<'_>) -> Self {
        let start = if report.days_max.is_some() { scope.since } else { scope.today };
        let days = Days { start: start.min(scope.today), end: scope.today };
        Self { report, days, interval_ms: scope.interval_ms(report.status) }
    }

    fn window(&self, cursor: &Cursor) -> Days {
        self.report.days_max.map_or(cursor.days, |days_max| cursor.days.first(days_max))
    }

    /// The task of this window has come to nothing.
    fn lost(&self, cursor: &Cursor, why: &str) -> Next<Cursor> {
        let lost = cursor.lost.saturating_add(1);
        let again = Cursor { days: cursor.days, step: Step::Create, lost };
        if lost < LOST_MAX {
            return Next::Ask(again);
        }
        Next::Stuck {
            reason: format!(
                "{LOST_MAX} tasks in a row for the report of {} came to nothing, the last because \
                 {why}: retry the job later, it goes on with this report",
                self.shown(cursor)
            ),
            cursor: Some(Cursor { lost: 0, ..again }),
        }
    }

    /// The days of a report, for people.
    fn shown(&self, cursor: &Cursor) -> String {
        let window = self.window(cursor);
        match self.report.days_max {
            None => window.end.to_string(),
            Some(_) => format!("{} to {}", window.start, window.end),
        }
    }

    fn created(&self, cursor: &Cursor, envelope: &Value, now: UnixMillis) -> Next<Cursor> {
        let task = envelope.pointer("/data/taskId").and_then(Value::as_str);
        let usable = |task: &&str| !task.is_empty() && task.chars().count() <= ID_CHARS_MAX;
        match task.filter(usable) {
            Some(task) => Next::Wait {
                cursor: Cursor {
                    step: Step::Poll { task: task.to_owned(), watch: Watch::new(now) },
                    ..cursor.clone()
                },
                wait_ms: self.interval_ms,
            },
            None => Next::Failed(
                "the upstream took the task and gave no `data.taskId` to ask for it by".to_owned(),
            ),
        }
    }

    fn polled(
        &self,
        cursor: &Cursor,
        task: &str,
        watch: &Watch,
        envelope: &Value,
        now: UnixMillis,
    ) -> Next<Cursor> {
        // A status that is no text is as good as one that nobody knows.
        let status = match envelope.pointer("/data/status") {
            Some(Value::String(status)) => Cow::Borrowed(status.as_str()),
            other => Cow::Owned(other.map_or("missing".to_owned(), Value::to_string)),
        };
        let status = match &*status {
            "done" => Status::Done,
            "new" | "processing" => Status::UnderWay,
            "purged" | "canceled" => Status::Lost,
            other => Status::Unknown(other),
        };
        let step = |step| Cursor { step, ..cursor.clone() };
        match watch.polled(status, self.interval_ms, LIFETIME_MS, now) {
            Polled::Download => Next::Ask(step(Step::Download {
                task: task.to_owned(),
                created_at: watch.created_at,
            })),
            Polled::Wait(watch, wait_ms) => {
                Next::Wait { cursor: step(Step::Poll { task: task.to_owned(), watch }), wait_ms }
            }
            Polled::Lost(why) => self.lost(cursor, &why),
        }
    }
}

impl Source for Tasks {
    type Cursor = Cursor;
    type Seen = ();

    fn begin(&self, _now: UnixMillis) -> Next<Cursor> {
        Next::Ask(Cursor { days: self.days, step: Step::Create, lost: 0 })
    }

    /// A task that the upstream has forgotten by now is not asked for.
    fn resume(&self, cursor: Cursor, now: UnixMillis) -> Next<Cursor> {
        let created_at = match &cursor.step {
            Step::Create => return Next::Ask(cursor),
            Step::Poll { watch, .. } => watch.created_at,
            Step::Download { created_at, .. } => *created_at,
        };
        if now.since(created_at) < LIFETIME_MS {
            return Next::Ask(cursor);
        }
        self.lost(&cursor, "it was not fetched within the time that tasks are kept")
    }

    /// A task that was created keeps its window: with another one, days behind it would be skipped.
    fn within_reach(&self, cursor: Cursor, now: UnixMillis) -> Cursor {
        match cursor.step {
            Step::Create => {
                Cursor { days: cursor.days.within(self.report.dataset.reach(now)), ..cursor }
            }
            Step::Poll { .. } | Step::Download { .. } => cursor,
        }
    }

    fn ask(&self, cursor: &Cursor) -> Ask {
        match &cursor.step {
            Step::Create => {
                let mut ask = Ask::new(self.report.create, Expect::Json);
                for (name, value) in self.report.options {
                    ask = ask.query(name, value);
                }
                if self.report.days_max.is_none() {
                    return ask;
                }
                let window = self.window(cursor);
                ask.query("dateFrom", window.start).query("dateTo", window.end)
            }
            Step::Poll { task, .. } => {
                Ask::new(self.report.status, Expect::Json).place("task_id", task).refusals_tell()
            }
            Step::Download { task, .. } => Ask::new(self.report.download, Expect::Rows(&[]))
                .place("task_id", task)
                .refusals_tell()
                .no_content_tells(),
        }
    }

    fn read(&self, _cursor: &Cursor, row: &RawValue, _seen: &mut ()) -> Vec<Read> {
        let key = Fields::of(row).and_then(|fields| self.report.key.read(&fields));
        vec![key.map(Keyed::plain)]
    }

    fn next(&self, cursor: &Cursor, page: &Page<()>, now: UnixMillis) -> Next<Cursor> {
        match &page.refusal {
            Some((404, _)) => {
                return self.lost(cursor, "the upstream does not know it any more (404)");
            }
            Some((status, words)) => {
                return Next::stuck(format!(
                    "the upstream refuses to speak of a task it has created ({status}): {words}"
                ));
            }
            None => {}
        }
        match &cursor.step {
            Step::Create => self.created(cursor, &page.envelope, now),
            Step::Poll { task, watch } => self.polled(cursor, task, watch, &page.envelope, now),
            Step::Download { .. } => match cursor.days.behind(self.window(cursor)) {
                Some(days) => Next::Ask(Cursor { days, step: Step::Create, lost: 0 }),
                None => Next::End,
            },
        }
    }

    /// Three requests a window, if nothing has to be polled twice.
    fn requests_total(&self, cursor: &Cursor, done: u64, _now: UnixMillis) -> Option<u64> {
        let windows = self.report.days_max.map_or(1, |days_max| cursor.days.windows(days_max));
        let of_this = match cursor.step {
            Step::Create => 3,
            Step::Poll { .. } => 2,
            Step::Download { .. } => 1,
        };
        Some(done + windows.saturating_sub(1) * 3 + of_this)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::datasets::play::{Ended, NOON, Told, play, scoped};

    /// An upstream that says what `status` says of the task of this number, at its so manieth poll.
    fn upstream(mut status: impl FnMut(usize, usize) -> Told) -> impl FnMut(&Ask, usize) -> Told {
        let (mut tasks, mut polls) = (0, 0);
        move |ask, _| match ask.endpoint.rsplit_once('.').unwrap().1 {
            "create" => {
                (tasks, polls) = (tasks + 1, 0);
                Told::Json(json!({ "data": { "taskId": format!("task-{tasks}") } }))
            }
            "status" => {
                polls += 1;
                status(tasks, polls)
            }
            _ => Told::Rows(
                vec![json!({ "nmId": tasks, "barcode": "", "techSize": "0" })],
                Value::Null,
            ),
        }
    }

    fn says(status: impl Into<Value>) -> Told {
        Told::Json(json!({ "data": { "id": "x", "status": status.into() } }))
    }

    fn verbs(asks: &[Ask]) -> Vec<&str> {
        asks.iter().map(|ask| ask.endpoint.rsplit_once('.').unwrap().1).collect()
    }

    #[test]
    fn a_task_is_created_polled_ever_more_patiently_and_downloaded() {
        let remains = scoped("2026-10-01", Tasks::remains);
        let played =
            play(&remains, None, upstream(|_, poll| says(["new", "processing", "done"][poll - 1])));
        assert_eq!(verbs(&played.asks), ["create", "status", "status", "status", "download"]);
        assert_eq!(played.waits, [5_000, 10_000, 15_000], "the status's interval, and growing");
        assert_eq!(played.asks[1].places, [("task_id", "task-1".to_owned())]);
        assert_eq!(played.asks[4].places, [("task_id", "task-1".to_owned())]);
        let options: Vec<&str> = played.asks[0].query.iter().map(|(name, _)| *name).collect();
        let groups =
            ["Brand", "Subject", "Sa", "Nm", "Barcode", "Size"].map(|by| format!("groupBy{by}"));
        assert_eq!(options, groups);
        assert_eq!((played.keys(), &played.ended), (vec!["1//0"], &Ended::Complete));
        assert_eq!(played.totals, [Some(3), Some(4), Some(5), Some(5)]);
    }

    #[test]
    fn the_interval_is_that_of_the_catalogue_so_a_faster_one_polls_faster() {
        let catalogue = crate::catalogue().scaled(100, 60).unwrap();
        let day = "2026-10-01".parse().unwrap();
        let remains = Tasks::remains(&Scope { since: day, today: day, catalogue: &catalogue });
        assert_eq!(play(&remains, None, upstream(|_, _| says("done"))).waits, [50]);
    }

    #[test]
    fn reports_of_days_are_a_task_a_window() {
        let acceptance = scoped("2026-07-03", Tasks::acceptance);
        let played = play(&acceptance, None, upstream(|_, _| says("done")));
        let creates = [0, 3, 6].map(|place| &played.asks[place]);
        let days = |ask: &Ask| ask.query.iter().map(|(_, day)| day.clone()).collect::<Vec<_>>();
        assert_eq!(days(creates[0]), ["2026-07-03", "2026-08-02"]);
        assert_eq!(days(creates[1]), ["2026-08-03", "2026-09-02"]);
        assert_eq!(days(creates[2]), ["2026-09-03", "2026-10-01"]);
        assert_eq!((played.asks.len(), played.totals), (9, vec![Some(9); 8]));
        let storage = scoped("2026-07-03", Tasks::storage);
        let played = play(&storage, None, upstream(|_, _| says("done")));
        assert_eq!(played.asks.len(), 36, "91 days in windows of 8");
        assert_eq!(days(&played.asks[0]), ["2026-07-03", "2026-07-10"]);
        assert_eq!(days(&played.asks[33]), ["2026-09-29", "2026-10-01"]);
    }

    #[test]
    fn a_task_that_comes_to_nothing_is_created_again() {
        let remains = scoped("2026-10-01", Tasks::remains);
        for first in ["purged", "canceled"] {
            let played = play(
                &remains,
                None,
                upstream(|task, _| says(if task == 1 { first } else { "done" })),
            );
            assert_eq!(verbs(&played.asks), ["create", "status", "create", "status", "download"]);
            assert_eq!(played.keys(), ["2//0"]);
        }
        let gone = upstream(
            |task, _| if task == 1 { Told::Refused(404, "unknown") } else { says("done") },
        );
        assert_eq!(play(&remains, None, gone).asks.len(), 5);
        let mut inner = upstream(|_, _| says("done"));
        let played = play(&remains, None, |ask, time| {
            if time == 2 { Told::Refused(404, "expired") } else { inner(ask, time) }
        });
        let expected = ["create", "status", "download", "create", "status", "download"];
        assert_eq!(verbs(&played.asks), expected);
    }

    #[test]
    fn five_lost_tasks_in_a_row_are_a_dead_letter_and_a_retry_has_five_again() {
        let acceptance = scoped("2026-07-03", Tasks::acceptance);
        let lost_from_second_window_on =
            || upstream(|task, _| says(if task == 1 { "done" } else { "purged" }));
        let played = play(&acceptance, None, lost_from_second_window_on());
        assert_eq!(played.asks.len(), 3 + 5 * 2);
        let reason = "5 tasks in a row for the report of 2026-08-03 to 2026-09-02 came to nothing, the \
                      last because the upstream has given it up: retry the job later, it goes on with \
                      this report";
        assert_eq!(played.stuck(), reason);
        let again = play(&acceptance, Some(&played.checkpoint), upstream(|_, _| says("purged")));
        assert_eq!(again.asks.len(), 5 * 2);
        let again = play(&acceptance, Some(&played.checkpoint), upstream(|_, _| says("done")));
        assert_eq!((again.asks.len(), again.ended), (6, Ended::Complete));
    }

    #[test]
    fn a_status_that_nobody_knows_is_polled_thirty_times_and_then_created_again() {
        let remains = scoped("2026-10-01", Tasks::remains);
        for unknown in [json!("thinking"), json!(7), json!(null), json!(["done"])] {
            let played = play(
                &remains,
                None,
                upstream(|task, _| if task == 1 { says(unknown.clone()) } else { says("done") }),
            );
            assert_eq!(played.asks.len(), 1 + 30 + 3);
            assert_eq!(played.ended, Ended::Complete);
        }
        let played = play(&remains, None, upstream(|_, _| Told::Json(json!([]))));
        assert_eq!(played.asks.len(), 5 * 31);
        assert!(played.stuck().contains("its status stayed `missing`"), "{}", played.stuck());
    }

    #[test]
    fn a_task_that_is_never_done_is_created_again_after_two_hours() {
        let remains = scoped("2026-10-01", Tasks::remains);
        let played = play(&remains, None, upstream(|_, _| says("processing")));
        assert!(
            played.stuck().contains("within the time that tasks are kept"),
            "{}",
            played.stuck()
        );
        let waited: u64 = played.waits.iter().sum();
        assert!((10..11).contains(&(waited / 3_600_000)), "{waited}");
    }

    #[test]
    fn a_task_that_has_grown_old_while_the_job_waited_is_not_asked_for() {
        let remains = scoped("2026-10-01", Tasks::remains);
        let days = r#"{"start":"2026-10-01","end":"2026-10-01"}"#;
        let step = |created_at: i64| {
            format!(
                r#"{{"days":{days},"step":{{"download":{{"task":"t","created_at":{created_at}}}}}}}"#
            )
        };
        let young = play(&remains, Some(&step(NOON.0 - 7_199_999)), upstream(|_, _| says("done")));
        assert_eq!(verbs(&young.asks), ["download"]);
        let old = play(&remains, Some(&step(NOON.0 - 7_200_000)), upstream(|_, _| says("done")));
        assert_eq!(verbs(&old.asks), ["create", "status", "download"]);
    }

    #[test]
    fn a_task_without_an_id_is_tried_again_and_another_refusal_is_a_dead_letter() {
        let remains = scoped("2026-10-01", Tasks::remains);
        for odd in [
            json!({}),
            json!({ "data": { "taskId": 7 } }),
            json!({ "data": { "taskId": "" } }),
            json!([]),
        ] {
            let played = play(&remains, None, |_, _| Told::Json(odd.clone()));
            assert!(matches!(played.ended, Ended::Failed(_)), "{:?}", played.ended);
        }
        let refused = play(&remains, None, upstream(|_, _| Told::Refused(409, "not yours")));
        assert!(refused.stuck().ends_with("(409): not yours"), "{}", refused.stuck());
    }
}
