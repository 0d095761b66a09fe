//! Jobs that run days after they were planned: no request asks for a day that the upstream does not
//! tell any more, which it would refuse.

use chrono::NaiveDate;
use serde_json::{Value, json};
use uuid::Uuid;
use waitless_job::UnixMillis;

use super::{
    campaign_stats::CampaignStats,
    funnel_csv::FunnelCsv,
    funnel_history::FunnelHistory,
    pages::Pages,
    play::{Ended, NOON, Played, Told, catalogue_with, play_at},
    tasks::Tasks,
};
use crate::{
    Dataset, MoscowTime,
    scope::Scope,
    source::{Ask, Expect, Source},
};

const DAY_MS: u64 = 86_400_000;

/// The first day that a request is about.
fn first_day(ask: &Ask) -> Option<NaiveDate> {
    let names = ["dateFrom", "beginDate"];
    let query =
        ask.query.iter().find(|(name, _)| names.contains(name)).map(|(_, day)| day.as_str());
    let body = ask.body.as_ref();
    let places = ["/selectedPeriod/start", "/params/startDate"];
    let body = body.and_then(|body| places.iter().find_map(|place| body.pointer(place)?.as_str()));
    query.or(body).map(|day| day.parse().expect("a day"))
}

/// Full pages of two rows, reports that are ready at once, and a refusal for a day too far back.
fn told(ask: &Ask, now: UnixMillis) -> Told {
    // The list of products may be of any day of a year.
    let dataset = match ask.endpoint {
        "analytics.sales-funnel.products" => Dataset::Funnel,
        "analytics.sales-funnel.products.history" => Dataset::FunnelHistory,
        "analytics.nm-report.create" => Dataset::FunnelCsv,
        _ => Dataset::Storage,
    };
    if first_day(ask).is_some_and(|day| day < dataset.deepest_day(now)) {
        return Told::Refused(400, "excess limit on days");
    }
    let body = ask.body.as_ref();
    let rows = match (ask.endpoint, ask.expect) {
        ("promotion.count", _) => {
            vec![json!({ "advert_list": [{ "advertId": 1 }, { "advertId": 2 }] })]
        }
        ("analytics.sales-funnel.products", _) => {
            let offset = body.expect("a body")["offset"].as_u64().expect("a number");
            let period = json!({ "start": "a", "end": "b" });
            let row = |id| json!({ "product": { "nmId": id }, "statistic": { "selected": { "period": period } } });
            (offset..(offset + 2).min(5)).map(row).collect()
        }
        (_, Expect::Json) => {
            let id = Uuid::nil();
            let list = json!([{ "id": id, "status": "SUCCESS" }]);
            return Told::Json(match ask.endpoint {
                "analytics.nm-report.list" => json!({ "data": list }),
                _ => json!({ "data": { "taskId": "t", "status": "done" } }),
            });
        }
        _ => Vec::new(),
    };
    Told::Rows(rows, Value::Null)
}

/// An import that was planned at noon as deep as it goes, begun then and cut off after so many
/// requests, and one that goes on with its checkpoint days later.
fn pause<S: Source>(source: &S, requests: usize, days: u64) -> (Played, Played) {
    let cut = play_at(NOON, source, None, |ask, time| {
        if time < requests { told(ask, NOON) } else { Told::Refused(500, "") }
    });
    let later = NOON.plus(days * DAY_MS);
    let played = play_at(later, source, Some(&cut.checkpoint), |ask, _| told(ask, later));
    (cut, played)
}

fn check<S: Source>(dataset: Dataset, make: impl Fn(&Scope<'_>) -> S) {
    let catalogue =
        catalogue_with(&[("analytics.sales-funnel.products", 2), ("promotion.fullstats", 1)]);
    let today = MoscowTime::at(NOON).day();
    let source = make(&Scope { since: dataset.deepest_day(NOON), today, catalogue: &catalogue });
    for days in [0, 1, 10, 100, 400] {
        let later = NOON.plus(days * DAY_MS);
        let played = play_at(later, &source, None, |ask, _| told(ask, later));
        assert_eq!(played.ended, Ended::Complete, "{dataset}, begun after {days} days");
        for requests in 0..4 {
            let (cut, played) = pause(&source, requests, days);
            let case = format!("{dataset}, {requests} requests, {days} days: {}", cut.checkpoint);
            assert_eq!(played.ended, Ended::Complete, "{case}");
        }
    }
}

#[test]
fn a_job_that_begins_or_goes_on_days_after_it_was_planned_asks_for_no_day_out_of_reach() {
    check(Dataset::Storage, Tasks::storage);
    check(Dataset::Acceptance, Tasks::acceptance);
    check(Dataset::Funnel, Pages::funnel);
    check(Dataset::FunnelHistory, FunnelHistory::of);
    check(Dataset::FunnelCsv, |scope| FunnelCsv::of(scope, Uuid::nil()));
    check(Dataset::CampaignStats, CampaignStats::of);
}

#[test]
fn past_midnight_the_rest_is_asked_for_without_the_day_that_is_out_of_reach() {
    let catalogue = catalogue_with(&[("analytics.sales-funnel.products", 2)]);
    let today = MoscowTime::at(NOON).day();
    let since = Dataset::FunnelHistory.deepest_day(NOON);
    let source = FunnelHistory::of(&Scope { since, today, catalogue: &catalogue });
    let (_, played) = pause(&source, 2, 1);
    let starts = ["2026-09-24", "2026-09-25", "2026-09-24", "2026-09-25"].map(Value::from);
    assert_eq!(played.body("/selectedPeriod/start"), starts, "products keep their order");
    let (_, played) = pause(&source, 2, 10);
    assert_eq!(played.body("/offset")[0], json!(0), "the week is over: it begins anew");
    let week = json!({ "start": "2026-10-04", "end": "2026-10-10" });
    assert_eq!(played.body("/selectedPeriod")[0], week);
}
