//! The sales funnel as a file: reports whose ids clients make up, listed until they are ready.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use super::csv;
use super::funnel::EXPECTED_DAYS;
use super::owner::{Subject, moscow_day};
use super::period::{self, Period, Reach};
use super::refusal::{Refusal, replied};
use super::row::keyed;
use super::visits::Visits;
use crate::drawer::{Drawer, ExpectedRows, Question, Reply, TaskFate};
use crate::{Call, Dataset};

const REACH: Reach = Reach { days_max: 365, depth_days: 365 };
const REPORT_TYPE: &str = "DETAIL_HISTORY_REPORT";

/// How long a file is kept, at speed 1.
const KEPT_SECONDS: i64 = 48 * 3600;

/// The reports of a seller.
#[derive(Debug)]
pub(crate) struct Reports {
    visits: Visits,
    made: Mutex<HashMap<String, Report>>,
}

#[derive(Debug)]
struct Report {
    /// Place in the order of creation.
    number: u64,
    name: String,
    period: Period,
    created_at: DateTime<Utc>,
    /// When it is begun, and when it is ready.
    begins_at: DateTime<Utc>,
    ends_at: DateTime<Utc>,
    /// Whether it fails in place of getting ready.
    fails: bool,
    was_retried: bool,
    fate: Option<TaskFate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Waiting,
    Retry,
    Processing,
    Success,
    Failed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CreateBody {
    id: String,
    report_type: String,
    #[serde(default)]
    user_report_name: Option<String>,
    params: Params,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Params {
    start_date: String,
    end_date: String,
    /// All goods if empty, which is all that is served here.
    #[serde(default, rename = "nmIDs")]
    nm_ids: Vec<u64>,
    #[serde(default)]
    timezone: Option<String>,
    #[serde(default)]
    aggregation_level: Option<String>,
    #[serde(default, rename = "skipDeletedNm")]
    _skip_deleted_nm: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RetryBody {
    download_id: String,
}

impl Drawer for Reports {
    fn answer(&self, call: Call, question: &Question) -> Reply {
        replied(match call {
            Call::Create => self.create(question),
            Call::Retry => self.retry(question),
            Call::Status => self.list(question),
            _ => self.file(question),
        })
    }

    /// Lines of the file for the period that an import asks for by default: an object of texts
    /// each.
    fn expected(&self) -> ExpectedRows {
        let owner = self.visits.goods.owner;
        let period = Period { first: owner.days_ago(EXPECTED_DAYS), last: owner.days_ago(1) };
        let lines = csv::lines(self.visits, period);
        Box::new(lines.map(|line| keyed(&line.object(), &["nmID", "dt"])))
    }

    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        [Call::Create, Call::Status, Call::Download]
            .map(|call| (Dataset::FunnelCsv, call, 1))
            .into()
    }
}

impl Reports {
    pub(crate) fn new(visits: Visits) -> Self {
        Self { visits, made: Mutex::default() }
    }

    /// A second report of one id is the first: clients may repeat themselves.
    fn create(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&[])?;
        let body: CreateBody = question.json()?;
        if !is_uuid(&body.id) {
            return Err(Refusal::bad(format!("id: {:?} is no UUID", body.id)));
        }
        if body.report_type != REPORT_TYPE {
            return Err(Refusal::bad(format!("reportType: only {REPORT_TYPE} is served here")));
        }
        let period = body.params.read(question)?;

        let owner = self.visits.goods.owner;
        let mut made = self.made();
        let number = made.len() as u64;
        made.entry(body.id).or_insert_with(|| {
            let mut dice = owner.dice(Subject::Report, [number, 0]);
            let begins_at = question.now + owner.sped_up_ms(dice.within(0..=5_000));
            Report {
                number,
                name: body.user_report_name.unwrap_or_else(|| "Воронка продаж".to_owned()),
                period,
                created_at: question.now,
                begins_at,
                ends_at: begins_at + owner.sped_up_ms(dice.within(5_000..=40_000)),
                // Never two in a row.
                fails: number.is_multiple_of(2) && dice.one_in(4),
                was_retried: false,
                fate: question.fate,
            }
        });
        Ok(Reply::Json(json!({"data": "Начато формирование файла/отчета"})))
    }

    /// A failed report is begun once more.
    fn retry(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&[])?;
        let body: RetryBody = question.json()?;
        let owner = self.visits.goods.owner;
        let mut made = self.made();
        let report = self.known(&mut made, &body.download_id, question)?;
        if report.status(question.now) != Status::Failed {
            return Err(Refusal::bad("only a report that failed is made again"));
        }
        let mut dice = owner.dice(Subject::Report, [report.number, 1]);
        report.begins_at = question.now + owner.sped_up_ms(dice.within(0..=5_000));
        report.ends_at = report.begins_at + owner.sped_up_ms(dice.within(5_000..=40_000));
        (report.fails, report.was_retried, report.fate) = (false, true, None);
        Ok(Reply::Json(json!({"data": "Начато повторное формирование файла/отчета"})))
    }

    /// The reports that are asked for, or all: in order of creation. Unknown ones are left out.
    fn list(&self, question: &Question) -> Result<Reply, Refusal> {
        let mut ids = Vec::new();
        for (name, value) in question.query.iter() {
            if name != "filter[downloadIds]" {
                return Err(Refusal::bad(format!("{name}: no such parameter")));
            }
            ids.extend(value.split(',').map(str::to_owned));
        }
        if let Some(bad) = ids.iter().find(|id| !is_uuid(id)) {
            return Err(Refusal::bad(format!("downloadIds: {bad:?} is no UUID")));
        }
        let mut made = self.made();
        if ids.is_empty() {
            ids.extend(made.keys().cloned());
        }
        ids.sort_by_key(|id| made.get(id).map(|report| report.number));
        let mut listed = Vec::new();
        for id in ids {
            if let Ok(report) = self.known(&mut made, &id, question) {
                listed.push(self.entry(&id, report, question.now));
            }
        }
        Ok(Reply::Json(json!({"data": listed})))
    }

    fn entry(&self, id: &str, report: &mut Report, now: DateTime<Utc>) -> Value {
        let status = report.status(now);
        let size = if status == Status::Success { self.archive(report).len() } else { 0 };
        let status = if report.fate == Some(TaskFate::Unknown) {
            // Once. The report goes on.
            report.fate = None;
            "POSTPONED"
        } else {
            status.name()
        };
        json!({
            "id": id,
            "createdAt": report.created_at.to_rfc3339_opts(SecondsFormat::Secs, true),
            "status": status,
            "name": report.name,
            "size": size,
            "startDate": report.period.first.to_string(),
            "endDate": report.period.last.to_string(),
        })
    }

    fn file(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&[])?;
        let id = question.place("downloadId");
        let mut made = self.made();
        let report = self.known(&mut made, id, question)?;
        match report.status(question.now) {
            Status::Success => Ok(Reply::Zip(self.archive(report))),
            Status::Failed => Err(no_such_report(id)),
            _ => Err(Refusal::bad("the report is not ready")),
        }
    }

    fn archive(&self, report: &Report) -> Bytes {
        csv::archive(csv::lines(self.visits, report.period), self.visits.goods.owner)
    }

    /// The report, with what the question brings upon it, unless it is forgotten.
    fn known<'a>(
        &self,
        made: &'a mut HashMap<String, Report>,
        id: &str,
        question: &Question,
    ) -> Result<&'a mut Report, Refusal> {
        let kept = self.visits.goods.owner.kept_seconds(KEPT_SECONDS);
        let report = made.get_mut(id).ok_or_else(|| no_such_report(id))?;
        report.fate = question.fate.or(report.fate);
        let is_gone = matches!(report.fate, Some(TaskFate::Expired | TaskFate::Purged));
        if is_gone || question.now >= report.ends_at + kept {
            return Err(no_such_report(id));
        }
        Ok(report)
    }

    fn made(&self) -> MutexGuard<'_, HashMap<String, Report>> {
        // A panic under the lock would have left whole reports behind.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Report {
    fn status(&self, now: DateTime<Utc>) -> Status {
        if self.fate == Some(TaskFate::Canceled) {
            Status::Failed
        } else if now < self.begins_at {
            if self.was_retried { Status::Retry } else { Status::Waiting }
        } else if now < self.ends_at {
            Status::Processing
        } else if self.fails {
            Status::Failed
        } else {
            Status::Success
        }
    }
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Waiting => "WAITING",
            Self::Retry => "RETRY",
            Self::Processing => "PROCESSING",
            Self::Success => "SUCCESS",
            Self::Failed => "FAILED",
        }
    }
}

impl Params {
    fn read(&self, question: &Question) -> Result<Period, Refusal> {
        let first = period::date("startDate", &self.start_date)?;
        let last = period::date("endDate", &self.end_date)?;
        let only = |field: &str, value: &Option<String>, served: &str| match value {
            Some(other) if other != served => {
                Err(Refusal::bad(format!("{field}: only {served} is served here")))
            }
            _ => Ok(()),
        };
        only("timezone", &self.timezone, "Europe/Moscow")?;
        only("aggregationLevel", &self.aggregation_level, "day")?;
        if !self.nm_ids.is_empty() {
            return Err(Refusal::bad("nmIDs: only all goods are served here"));
        }
        Period { first, last }.within(REACH, moscow_day(question.now))
    }
}

/// 32 hexadecimal digits in five groups.
fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.concat().bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn no_such_report(id: &str) -> Refusal {
    Refusal::unknown(format!("report {id:?} is unknown"))
}

#[cfg(test)]
mod tests {
    use super::super::goods::Goods;
    use super::super::owner::tests::owner;
    use super::*;

    const ID: &str = "06eea887-9d9f-491f-b16a-bb1766fcb8d2";

    fn question(body: Value, seconds: i64, fate: Option<TaskFate>) -> Question {
        Question {
            places: [("downloadId".to_owned(), ID.to_owned())].into(),
            body,
            now: owner(0).started + chrono::Duration::seconds(seconds),
            fate,
            ..Question::default()
        }
    }

    /// Reports of a seller whose first one does not fail by itself.
    fn reports() -> Reports {
        let fails = |seller| {
            let mut dice = owner(seller).dice(Subject::Report, [0, 0]);
            dice.within(0..=5_000);
            dice.within(5_000..=40_000);
            dice.one_in(4)
        };
        let seller = (0..).find(|seller| !fails(*seller)).expect("a seller");
        Reports::new(Visits { goods: Goods { owner: owner(seller), count: 3 } })
    }

    fn ordered(fate: Option<TaskFate>) -> Reports {
        let reports = reports();
        let params = json!({"startDate": "2026-09-01", "endDate": "2026-09-30"});
        let body = json!({"id": ID, "reportType": REPORT_TYPE, "params": params});
        assert!(reports.create(&question(body, 0, fate)).is_ok());
        reports
    }

    /// The statuses of all reports.
    fn statuses(reports: &Reports, seconds: i64, fate: Option<TaskFate>) -> Vec<String> {
        match reports.list(&question(Value::Null, seconds, fate)) {
            Ok(Reply::Json(body)) => {
                let all = body["data"].as_array().expect("a list").iter();
                all.map(|report| report["status"].as_str().expect("a text").to_owned()).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    fn file(reports: &Reports, seconds: i64) -> Result<Reply, u16> {
        let question = question(Value::Null, seconds, None);
        reports.file(&question).map_err(|refusal| refusal.status.as_u16())
    }

    #[test]
    fn a_file_is_kept_for_48_hours() {
        let reports = ordered(None);
        assert!(file(&reports, 0).is_err());
        assert_eq!(statuses(&reports, 45, None), ["SUCCESS"]);
        assert!(file(&reports, 48 * 3600).is_ok());
        assert_eq!(file(&reports, 48 * 3600 + 45).map(|_| ()), Err(404));
        assert!(statuses(&reports, 48 * 3600 + 45, None).is_empty());
    }

    #[test]
    fn a_canceled_report_has_failed_until_it_is_retried() {
        let reports = ordered(Some(TaskFate::Canceled));
        assert_eq!(statuses(&reports, 45, None), ["FAILED"]);
        assert_eq!(file(&reports, 45).map(|_| ()), Err(404));
        assert!(reports.retry(&question(json!({"downloadId": ID}), 45, None)).is_ok());
        let statuses: Vec<String> =
            (45..=91).flat_map(|second| statuses(&reports, second, None)).collect();
        assert!(statuses.iter().any(|status| status == "PROCESSING"));
        assert_eq!(statuses.last().map(String::as_str), Some("SUCCESS"));
    }

    #[test]
    fn a_purged_report_is_gone_and_an_unknown_status_comes_once() {
        let reports = ordered(None);
        assert_eq!(statuses(&reports, 45, Some(TaskFate::Unknown)), ["POSTPONED"]);
        assert_eq!(statuses(&reports, 45, None), ["SUCCESS"]);
        assert!(statuses(&reports, 45, Some(TaskFate::Purged)).is_empty());
        assert_eq!(file(&reports, 45).map(|_| ()), Err(404));
    }
}
