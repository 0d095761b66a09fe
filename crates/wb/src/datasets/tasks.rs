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
    create: "analytics.acceptance-report.create",
    status: "analytics.acceptance-report.status",
    download: "analytics.acceptance-report.download",
    days_max: Some(31),
    options: &[],
    key: Key::of(&[part("incomeId"), part("nmID"), part("giCreateDate"), part("shkCreateDate")]),
};

const STORAGE: Report = Report {
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
                .refusals_tell(),
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
