use std::fmt;

use chrono::NaiveDate;
use waitless_job::{Class, NewJob, UnixMillis};
use waitless_upstream::Catalogue;

use crate::{Dataset, Depth, ImportArgs, KIND, MoscowTime, PlanError, SellerToken};

/// Attempts that an import has. Attempts count anew whenever its cursor moves, so they are those of
/// one page, and an import should outlive an evening on which the upstream is down.
const ATTEMPTS_MAX: u32 = 25;

/// The jobs of one import, not enqueued yet.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The datasets that can be had, in the order of [`Dataset::ALL`].
    pub datasets: Vec<Dataset>,
    /// One for each of them.
    pub jobs: Vec<NewJob>,
    /// What is not as it was asked for.
    pub notices: Vec<Notice>,
}

impl Plan {
    /// The endpoints that its jobs ask: what the account needs buckets for.
    pub fn endpoints(&self) -> impl Iterator<Item = &'static str> {
        self.datasets.iter().flat_map(|dataset| dataset.endpoints()).copied()
    }
}

/// Something in a plan that is not as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The upstream does not have rows from so long ago.
    Shortened {
        /// Of which dataset.
        dataset: Dataset,
        /// The day asked for.
        asked: NaiveDate,
        /// The first day that is planned.
        since: NaiveDate,
    },
    /// The token does not open the dataset, so it is left out.
    Skipped {
        /// Which.
        dataset: Dataset,
        /// Why, and what to do about it.
        reason: String,
    },
    /// The upstream has switched off something that the dataset asks.
    Removed {
        /// Which dataset.
        dataset: Dataset,
        /// Which of its endpoints.
        endpoint: &'static str,
        /// Since which day, as `2026-10-01`.
        since: String,
    },
    /// The upstream advises against something that the dataset asks.
    Deprecated {
        /// Which dataset.
        dataset: Dataset,
        /// Which of its endpoints.
        endpoint: &'static str,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shortened { dataset, asked, since } => {
                match dataset.depth() {
                    Depth::Days(days) => {
                        write!(f, "{dataset}: rows can be asked for {days} days back")?;
                    }
                    Depth::Now | Depth::From(_) => write!(f, "{dataset}: there is nothing older")?,
                }
                write!(f, ", the import begins on {since} and not on {asked}")
            }
            Self::Skipped { dataset, reason } => write!(f, "{dataset} is left out: {reason}"),
            Self::Removed { dataset, endpoint, since } => write!(
                f,
                "{dataset}: Wildberries has switched off `{endpoint}` on {since}, so this will \
                 probably fail: look for a newer version, or a newer catalogue"
            ),
            Self::Deprecated { dataset, endpoint } => write!(
                f,
                "{dataset}: Wildberries advises against `{endpoint}` and may switch it off"
            ),
        }
    }
}

/// Why a token does not open a dataset, if it does not.
///
/// ```
/// # use waitless_wb::Dataset;
/// let catalogue = waitless_wb::catalogue();
/// let reason = |dataset, family, mask| waitless_wb::closed(dataset, &catalogue, family, mask);
/// let statistics_only = 1 << 5; // position 5
/// assert_eq!(reason(Dataset::Orders, "personal", statistics_only), None);
/// assert_eq!(
///     reason(Dataset::Cards, "personal", statistics_only).unwrap(),
///     "the token has no category Content: make one in the seller's portal that has it"
/// );
/// assert_eq!(
///     reason(Dataset::Stocks, "base", 0).unwrap(),
///     "Wildberries does not let base tokens ask for it: use a personal or service token"
/// );
/// ```
#[must_use]
pub fn closed(
    dataset: Dataset,
    catalogue: &Catalogue,
    family: &str,
    categories: u64,
) -> Option<String> {
    for name in dataset.endpoints() {
        let Some(endpoint) = catalogue.endpoint(name) else {
            return Some(format!(
                "the catalogue of {} knows no `{name}`: use one that does",
                catalogue.facts_as_of()
            ));
        };
        if !endpoint.is_open_to(family) {
            return Some(format!(
                "Wildberries does not let {family} tokens ask for it: use a personal or service \
                 token"
            ));
        }
        let category = endpoint.category().and_then(|name| catalogue.category(name));
        // A token that says nothing of what it opens may open everything.
        if let Some(category) = category
            && categories != 0
            && !category.is_open_to(categories)
        {
            return Some(format!(
                "the token has no category {}: make one in the seller's portal that has it",
                category.title().unwrap_or(category.name())
            ));
        }
    }
    None
}

/// Plans an import: one job of class `bulk` for each dataset that the token opens. Enqueueing a
/// plan again while its jobs live changes nothing: each has a unique key of account and dataset.
///
/// Without `since` each dataset begins at its [`Dataset::usual_day`]. A day before
/// [`Dataset::deepest_day`] is moved up to that, with a [`Notice`].
///
/// # Errors
/// [`PlanError::Future`] for a day that has not come in Moscow.
///
/// ```
/// use waitless_wb::{Dataset, SellerToken, plan};
/// # use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
/// # use waitless_job::{Class, UnixMillis};
/// # let noon = UnixMillis(1_790_856_000_000); // 2026-10-01
/// # let claims = r#"{"sid":"seller-1","acc":3,"exp":1800000000,"s":32}"#;
/// # let text = format!("e30.{}.e30", URL_SAFE_NO_PAD.encode(claims));
/// let token = SellerToken::parse(&text, noon)?;
/// let since = Some("2026-09-01".parse()?);
/// let plan = plan(&token, &waitless_wb::catalogue(), &[Dataset::Orders], since, noon)?;
/// let job = &plan.jobs[0];
/// assert_eq!(&*job.args, r#"{"dataset":"orders","since":"2026-09-01"}"#);
/// assert_eq!((job.class, job.attempts_max), (Class::Bulk, 25));
/// assert_eq!(job.unique_key.as_deref(), Some("wb/seller-1/orders"));
/// assert!(plan.notices.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(
    token: &SellerToken,
    catalogue: &Catalogue,
    datasets: &[Dataset],
    since: Option<NaiveDate>,
    now: UnixMillis,
) -> Result<Plan, PlanError> {
    let today = MoscowTime::at(now).day();
    if let Some(since) = since.filter(|since| *since > today) {
        return Err(PlanError::Future { since, today });
    }
    let mut plan = Plan { datasets: Vec::new(), jobs: Vec::new(), notices: Vec::new() };
    for dataset in Dataset::ALL.into_iter().filter(|dataset| datasets.contains(dataset)) {
        if let Some(reason) = closed(dataset, catalogue, token.family(), token.categories()) {
            plan.notices.push(Notice::Skipped { dataset, reason });
            continue;
        }
        let since = match since {
            None => dataset.usual_day(now),
            Some(asked) => {
                let since = asked.max(dataset.deepest_day(now));
                if since > asked && dataset.depth() != Depth::Now {
                    plan.notices.push(Notice::Shortened { dataset, asked, since });
                }
                since
            }
        };
        plan.notices.extend(passing(dataset, catalogue, today));
        plan.jobs.push(job(token, catalogue, dataset, since, now)?);
        plan.datasets.push(dataset);
    }
    Ok(plan)
}

/// What of a dataset will not be there for long, or is gone.
fn passing(
    dataset: Dataset,
    catalogue: &Catalogue,
    today: NaiveDate,
) -> impl Iterator<Item = Notice> {
    let today = today.to_string();
    dataset.endpoints().iter().filter_map(move |name| {
        let endpoint = catalogue.endpoint(name)?;
        if endpoint.is_removed_on(&today) {
            let since = endpoint.removed().unwrap_or_default().to_owned();
            return Some(Notice::Removed { dataset, endpoint: name, since });
        }
        endpoint.is_deprecated().then_some(Notice::Deprecated { dataset, endpoint: name })
    })
}

fn job(
    token: &SellerToken,
    catalogue: &Catalogue,
    dataset: Dataset,
    since: NaiveDate,
    now: UnixMillis,
) -> Result<NewJob, PlanError> {
    let account = token.account();
    let args = ImportArgs { dataset, since, base_url: None };
    let job = NewJob::new(KIND, account.as_str(), &args, now)?;
    let first = catalogue.endpoint(dataset.endpoints()[0]).expect("a closed dataset has no job");
    let job = job.needs(first.needs_of(token.family())).class(Class::Bulk);
    Ok(job.unique_key(format!("wb/{account}/{dataset}")).attempts_max(ATTEMPTS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalogue, token::tests::token_of};

    /// 2026-10-01, 23:00 in UTC, so that Moscow is a day ahead.
    const LATE: UnixMillis = UnixMillis(1_790_856_000_000 + 11 * 3_600_000);

    /// The categories of a token that opens everything and only reads, as sellers have them.
    const ALL: u64 = 1_073_823_486;

    fn plan_of(
        acc: u64,
        categories: u64,
        datasets: &[Dataset],
        since: Option<&str>,
    ) -> Result<Plan, PlanError> {
        let since = since.map(|since| since.parse().unwrap());
        plan(&token_of(acc, categories), &catalogue(), datasets, since, LATE)
    }

    fn notices(plan: &Plan) -> Vec<String> {
        plan.notices.iter().map(Notice::to_string).collect()
    }

    fn lanes(plan: &Plan) -> Vec<String> {
        let lane = |job: &NewJob| waitless_job::LaneKey::of(&job.account, &job.needs).to_string();
        plan.jobs.iter().map(lane).collect()
    }

    #[test]
    fn each_dataset_has_one_job_that_needs_the_group_of_its_first_request() {
        let asked = [Dataset::Sales, Dataset::Prices, Dataset::Orders, Dataset::Sales];
        let plan = plan_of(3, ALL, &asked, None).unwrap();
        assert_eq!(lanes(&plan), ["seller-1/orders", "seller-1/sales", "seller-1/prices.shared"]);
        assert!(plan.jobs.iter().all(|job| job.check().is_ok() && job.run_at == LATE));
        assert_eq!(plan.datasets, [Dataset::Orders, Dataset::Sales, Dataset::Prices]);
        assert_eq!(plan.endpoints().collect::<Vec<_>>(), ["orders", "sales", "prices.goods.list"]);
    }

    #[test]
    fn a_token_that_opens_everything_has_all_of_them_and_so_may_one_that_does_not_say() {
        for (acc, categories) in [(3, ALL), (4, ALL), (3, 0)] {
            let plan = plan_of(acc, categories, &Dataset::ALL, None).unwrap();
            assert_eq!((plan.jobs.len(), notices(&plan)), (17, vec![]));
        }
    }

    #[test]
    fn what_a_token_does_not_open_is_left_out_and_named() {
        let plan = plan_of(1, ALL, &Dataset::ALL, None).unwrap();
        let said = "stocks is left out: Wildberries does not let base tokens ask for it: use a \
                    personal or service token";
        assert_eq!((plan.jobs.len(), notices(&plan)), (16, vec![said.to_owned()]));

        let plan = plan_of(3, 1 << 5, &Dataset::ALL, None).unwrap();
        assert_eq!(plan.datasets, [Dataset::Orders, Dataset::Sales, Dataset::Tariffs]);
        let said = "finance is left out: the token has no category Finance: make one in the \
                    seller's portal that has it";
        assert!(notices(&plan).contains(&said.to_owned()), "{:?}", notices(&plan));
        assert_eq!(plan.notices.len(), 14);
    }

    #[test]
    fn a_day_is_a_day_in_moscow() {
        let plan_since = |since| plan_of(3, ALL, &[Dataset::Orders], Some(since));
        assert!(plan_since("2026-10-02").is_ok(), "it has begun there");
        let error = plan_since("2026-10-03").unwrap_err().to_string();
        assert_eq!(error, "there is nothing since 2026-10-03: today is 2026-10-02 in Moscow");
    }

    #[test]
    fn a_day_before_the_depth_is_moved_up_and_that_is_said() {
        let plan_since = |since| plan_of(3, ALL, &Dataset::ALL, Some(since)).unwrap();
        let since = |plan: &Plan, dataset: Dataset| {
            let place = plan.datasets.iter().position(|one| *one == dataset).unwrap();
            serde_json::from_str::<ImportArgs>(&plan.jobs[place].args).unwrap().since.to_string()
        };
        let plan = plan_since("2026-07-04");
        assert_eq!(since(&plan, Dataset::Orders), "2026-07-04");
        assert_eq!(since(&plan, Dataset::Finance), "2026-07-04");
        assert_eq!(
            notices(&plan),
            ["funnel-history: rows can be asked for 7 days back, the import begins on 2026-09-25 \
              and not on 2026-07-04"]
        );
        let plan = plan_since("2024-01-01");
        assert_eq!(since(&plan, Dataset::Orders), "2026-07-04");
        assert_eq!(since(&plan, Dataset::Finance), "2024-01-29");
        assert_eq!(since(&plan, Dataset::Funnel), "2025-10-02");
        let said = "finance: there is nothing older, the import begins on 2024-01-29 and not on \
                    2024-01-01";
        assert!(notices(&plan).contains(&said.to_owned()), "{:?}", notices(&plan));
        assert_eq!(plan.notices.len(), 10);
    }

    #[test]
    fn what_is_switched_off_or_will_be_is_said_and_tried_all_the_same() {
        let text = crate::CATALOGUE_FILE.text;
        let with = |fact: &str| {
            let line = r#"{ name = "sales", method = "GET","#;
            let text = text.replace(line, &format!("{line} {fact},"));
            let catalogue = Catalogue::parse("test.toml", &text).expect("a catalogue");
            let plan = plan(&token_of(3, ALL), &catalogue, &[Dataset::Sales], None, LATE).unwrap();
            assert_eq!(plan.jobs.len(), 1);
            notices(&plan)
        };
        assert_eq!(with("removed = 2026-10-03"), [""; 0]);
        let said = &with("removed = 2026-10-02")[0];
        assert!(
            said.starts_with("sales: Wildberries has switched off `sales` on 2026-10-02"),
            "{said}"
        );
        let said = &with("deprecated = true")[0];
        assert!(said.starts_with("sales: Wildberries advises against `sales`"), "{said}");
    }
}
