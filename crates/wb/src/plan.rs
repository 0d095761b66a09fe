use std::fmt;

use chrono::NaiveDate;
use waitless_job::{AccountId, Class, NewJob, UnixMillis};

use crate::{Dataset, ImportArgs, KIND, MoscowTime, PlanError, moscow::days_before};

/// How many days back the upstream keeps orders and sales.
pub const DEPTH_DAYS: u64 = 90;

/// Attempts that an import has. Attempts count anew whenever its cursor moves, so they are those of
/// one page, and an import should outlive an evening on which the upstream is down.
const ATTEMPTS_MAX: u32 = 25;

/// The jobs of one import, not enqueued yet.
#[derive(Debug, Clone)]
pub struct Plan {
    /// One for each dataset.
    pub jobs: Vec<NewJob>,
    /// What is not as it was asked for.
    pub notices: Vec<Notice>,
}

/// Something in a plan that is not as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The upstream does not keep rows for so long.
    Shortened {
        /// The day asked for.
        asked: NaiveDate,
        /// The first day that is planned.
        since: NaiveDate,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shortened { asked, since } => write!(
                f,
                "orders and sales are kept for {DEPTH_DAYS} days: the import begins on {since} \
                 and not on {asked}"
            ),
        }
    }
}

/// The first day of which the upstream still keeps rows at `now`.
///
/// ```
/// # use waitless_job::UnixMillis;
/// let noon = UnixMillis(1_790_856_000_000); // 2026-10-01
/// assert_eq!(waitless_wb::deepest_day(noon).to_string(), "2026-07-03");
/// ```
#[must_use]
pub fn deepest_day(now: UnixMillis) -> NaiveDate {
    days_before(MoscowTime::at(now).day(), DEPTH_DAYS)
}

/// Plans an import: one job of class `bulk` for each dataset, of everything that changed since the
/// beginning of a day in Moscow. Enqueueing a plan again while its jobs live changes nothing: each
/// has a unique key of account and dataset.
///
/// A day deeper than [`DEPTH_DAYS`] is moved up to that depth, with a [`Notice`].
///
/// # Errors
/// [`PlanError::Future`] for a day that has not come in Moscow.
///
/// ```
/// use waitless_wb::{Dataset, plan};
/// # use waitless_job::{Class, UnixMillis};
/// let noon = UnixMillis(1_790_856_000_000); // 2026-10-01
/// let plan = plan(&"seller-1".parse()?, &[Dataset::Orders], "2026-09-01".parse()?, noon)?;
/// let job = &plan.jobs[0];
/// assert_eq!(&*job.args, r#"{"dataset":"orders","since":"2026-09-01"}"#);
/// assert_eq!((job.class, job.attempts_max), (Class::Bulk, 25));
/// assert_eq!(job.unique_key.as_deref(), Some("wb/seller-1/orders"));
/// assert!(plan.notices.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(
    account: &AccountId,
    datasets: &[Dataset],
    since: NaiveDate,
    now: UnixMillis,
) -> Result<Plan, PlanError> {
    let today = MoscowTime::at(now).day();
    if since > today {
        return Err(PlanError::Future { since, today });
    }
    let asked = since;
    let since = asked.max(deepest_day(now));
    let notices = if since > asked { vec![Notice::Shortened { asked, since }] } else { Vec::new() };

    let wanted = Dataset::ALL.into_iter().filter(|dataset| datasets.contains(dataset));
    let job = |dataset: Dataset| {
        let args = ImportArgs { dataset, since, base_url: None };
        let job = NewJob::new(KIND, account.as_str(), &args, now)?;
        let unique_key = format!("wb/{account}/{dataset}");
        let job = job.needs_one(dataset.group()).class(Class::Bulk).unique_key(unique_key);
        Ok(job.attempts_max(ATTEMPTS_MAX))
    };
    Ok(Plan { jobs: wanted.map(job).collect::<Result<_, PlanError>>()?, notices })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-10-01, 23:00 in UTC, so that Moscow is a day ahead.
    const LATE: UnixMillis = UnixMillis(1_790_856_000_000 + 11 * 3_600_000);

    fn plan_since(since: &str) -> Result<Plan, PlanError> {
        let account = "seller-1".parse().unwrap();
        let datasets = [Dataset::Sales, Dataset::Orders, Dataset::Sales];
        plan(&account, &datasets, since.parse().unwrap(), LATE)
    }

    #[test]
    fn each_dataset_has_one_job_that_needs_its_group() {
        let plan = plan_since("2026-10-02").unwrap();
        let lanes: Vec<String> = plan
            .jobs
            .iter()
            .map(|job| waitless_job::LaneKey::of(&job.account, &job.needs).to_string())
            .collect();
        assert_eq!(lanes, ["seller-1/orders", "seller-1/sales"]);
        assert!(plan.jobs.iter().all(|job| job.check().is_ok() && job.run_at == LATE));
    }

    #[test]
    fn a_day_is_a_day_in_moscow() {
        assert!(plan_since("2026-10-02").is_ok(), "it has begun there");
        let error = plan_since("2026-10-03").unwrap_err().to_string();
        assert_eq!(error, "there is nothing since 2026-10-03: today is 2026-10-02 in Moscow");
    }

    #[test]
    fn a_day_before_the_depth_is_moved_up_and_that_is_said() {
        assert_eq!(plan_since("2026-07-04").unwrap().notices, []);
        let plan = plan_since("2026-07-03").unwrap();
        assert!(plan.jobs[0].args.contains(r#""since":"2026-07-04""#));
        assert_eq!(
            plan.notices[0].to_string(),
            "orders and sales are kept for 90 days: the import begins on 2026-07-04 and not on \
             2026-07-03"
        );
    }
}
