//! The built-in catalogue against the published limits, row by row.

mod published;

use std::collections::{BTreeMap, BTreeSet};

use waitless_upstream::{Catalogue, Endpoint};
use waitless_wb::{Dataset, Depth};

use crate::published::{Row, rows};

/// Buckets that a published group does not share with the rest of it: the group, the endpoint, and
/// the families that have a bucket of its own. Each is told in the file.
const EXCEPTIONS: [(&str, &str, &[&str]); 7] = [
    ("content.listed", "content.cards.error.list", &["personal", "service", "base-secret", "base"]),
    ("content.listed", "content.cards.limits", &["personal", "service", "base-secret", "base"]),
    (
        "marketplace.stocks",
        "marketplace.stocks.delete",
        &["personal", "service", "base-secret", "base"],
    ),
    ("marketplace.dbw", "marketplace.dbw.orders.cancel", &["base"]),
    (
        "marketplace.dbs-meta-read",
        "marketplace.dbs.orders.meta.details",
        &["personal", "service", "base-secret", "base"],
    ),
    ("marketplace.dbs-meta-write", "marketplace.dbs.orders.meta.sgtin", &["base"]),
    ("prices.calendar", "prices.calendar.promotions.nomenclatures", &["base"]),
];

fn catalogue() -> Catalogue {
    waitless_wb::catalogue()
}

/// The endpoint that a row is about.
fn endpoint<'a>(catalogue: &'a Catalogue, row: &Row) -> &'a Endpoint {
    let operation = row.operation();
    let mut found = catalogue.endpoints().filter(|endpoint| endpoint.operation() == operation);
    let endpoint = found.next().unwrap_or_else(|| panic!("{operation} is not in the catalogue"));
    assert!(found.next().is_none(), "{operation} is there once");
    endpoint
}

#[test]
fn an_operation_is_a_method_of_a_url_and_there_are_308() {
    let published: BTreeSet<String> = rows().iter().map(Row::operation).collect();
    let catalogue = catalogue();
    let known: BTreeSet<String> = catalogue.endpoints().map(Endpoint::operation).collect();
    assert_eq!(published.len(), 308);
    assert_eq!(known, published);
    assert_eq!((rows().len(), catalogue.endpoints().count()), (462, 308));
}

#[test]
fn every_published_row_is_the_policy_of_its_families() {
    let catalogue = catalogue();
    for row in rows() {
        let endpoint = endpoint(&catalogue, &row);
        for family in row.families() {
            let policy = catalogue.policy_of(endpoint, family).expect("the family is known");
            if !row.lets_in(family) {
                assert_eq!(policy, None, "{} is closed to {family}", endpoint.name());
                continue;
            }
            let policy = policy.unwrap_or_else(|| panic!("{} {family}", endpoint.name()));
            let found = (policy.interval_ms() / u64::from(policy.tokens()), policy.burst());
            assert_eq!(found, row.chosen_or_printed(), "{} {family}", endpoint.name());
        }
    }
}

#[test]
fn a_family_without_a_row_is_shut_out() {
    let catalogue = catalogue();
    let mut published: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for row in rows() {
        let families = row.families().into_iter().filter(|family| row.lets_in(family));
        published.entry(row.operation()).or_default().extend(families);
    }
    let known: BTreeMap<String, BTreeSet<&str>> = catalogue
        .endpoints()
        .map(|endpoint| (endpoint.operation(), endpoint.families().collect()))
        .collect();
    assert_eq!(known, published);
}

#[test]
fn methods_that_are_published_as_sharing_share_and_no_others_do() {
    let catalogue = catalogue();
    let mut exceptions = BTreeSet::new();
    for row in rows() {
        let endpoint = endpoint(&catalogue, &row);
        for family in row.families().into_iter().filter(|family| row.lets_in(family)) {
            let group = endpoint.group_of(family).as_str();
            match row.scope() {
                None => assert_eq!(group, endpoint.name()),
                Some(scope) if group == scope => {}
                Some(scope) => {
                    assert_eq!(group, endpoint.name());
                    exceptions.insert((scope.to_owned(), group.to_owned(), family));
                }
            }
        }
    }
    let told: BTreeSet<(String, String, &str)> = EXCEPTIONS
        .iter()
        .flat_map(|(scope, endpoint, families)| {
            families.iter().map(|family| ((*scope).to_owned(), (*endpoint).to_owned(), *family))
        })
        .collect();
    assert_eq!(exceptions, told);
    for (_, name, _) in EXCEPTIONS {
        let endpoint = catalogue.endpoint(name).expect("it is there");
        assert!(endpoint.note().is_some(), "the file says why {name} is an exception");
    }
}

#[test]
fn every_other_published_fact_is_there() {
    let catalogue = catalogue();
    for row in rows() {
        let endpoint = endpoint(&catalogue, &row);
        let name = endpoint.name();
        assert_eq!(endpoint.category(), Some(row.category.as_str()), "{name}");
        let cost = endpoint.answer_cost().map(|cost| cost.to_string());
        assert_eq!(cost.as_deref(), row.answer_cost(), "{name}");
        assert_eq!(endpoint.readonly(), row.readonly(), "{name}");
        assert_eq!(endpoint.sandbox().is_some(), row.sandbox, "{name}");
        assert_eq!(endpoint.is_deprecated(), row.state == "deprecated", "{name}");
        let removed = endpoint.is_removed_on(catalogue.facts_as_of());
        assert_eq!(removed, row.state == "removed", "{name}");
    }
}

#[test]
fn numbers_that_cannot_be_meant_were_replaced_and_the_file_says_why() {
    let catalogue = catalogue();
    let mut replaced: BTreeMap<(u64, u32), usize> = BTreeMap::new();
    for row in rows() {
        let Some(chosen) = row.chosen else { continue };
        *replaced.entry(chosen).or_default() += 1;
        let endpoint = endpoint(&catalogue, &row);
        let group = catalogue.groups().find(|group| group.name() == endpoint.group());
        let told = endpoint.note().or_else(|| group?.note());
        // Of the pings a comment tells, once for all of them.
        assert!(told.is_some() || row.path == "/ping", "{}", endpoint.name());
    }
    // Supply discrepancies without a burst, marks of pickup orders, pings.
    assert_eq!(replaced, BTreeMap::from([((60_000, 1), 1), ((3_000, 20), 5), ((10_000, 3), 14)]));
    let file = waitless_wb::CATALOGUE_FILE.text;
    for odd in
        ["<no value>", "20/min, interval 3 s, burst 500", "ping prints burst 99", "only in prose"]
    {
        assert!(file.contains(odd), "{odd}");
    }
}

#[test]
fn the_built_in_file_has_no_problem_and_is_as_large_as_it_was() {
    let file = waitless_wb::CATALOGUE_FILE;
    assert_eq!(Catalogue::problems(file.file, file.text).len(), 0);
    let summary = catalogue().summary();
    let found = (summary.operations, summary.groups, summary.shared_groups, summary.families);
    assert_eq!(found, (308, 193, 20, 4));
    let found = (summary.deprecated, summary.removed, summary.ending, summary.daily_caps);
    assert_eq!(found, (5, 3, 3, 1));
}

#[test]
fn twenty_reports_a_day_are_a_cap_beside_the_bucket() {
    let catalogue = catalogue();
    let cap = |catalogue: &Catalogue| {
        let endpoint = catalogue.endpoint("analytics.nm-report.create").expect("it is there");
        endpoint.daily_cap().expect("it has a cap").clone()
    };
    assert_eq!((cap(&catalogue).requests(), cap(&catalogue).day_ms()), (20, 86_400_000));
    let scaled = catalogue.scaled(60, 30).expect("it can be scaled");
    assert_eq!((cap(&scaled).requests(), cap(&scaled).day_ms()), (20, 1_440_000));
}

#[test]
fn an_account_gets_the_buckets_of_what_it_asks_and_no_others() {
    let catalogue = catalogue();
    let account = "seller-1".parse().expect("it is a name");
    let groups = |family, endpoints: &[&str]| {
        let limits = catalogue.limits_of(&account, family, endpoints.iter().copied());
        limits.map(|limits| {
            limits.iter().map(|(bucket, _)| bucket.group.to_string()).collect::<Vec<_>>()
        })
    };
    let asked = ["sales", "orders", "prices.goods.list", "prices.goods.sizes"];
    assert_eq!(groups("base", &asked).unwrap(), ["orders", "prices.shared", "sales"]);
    let closed = groups("base", &["finance.sales-reports.list"]).unwrap_err().to_string();
    assert_eq!(
        closed,
        "wildberries has closed endpoint `finance.sales-reports.list` to credentials of family `base`"
    );
    assert!(groups("base", &["order"]).is_err());
    assert!(groups("gold", &["orders"]).is_err());
}

/// Masks of tokens that sellers have shown.
#[test]
fn categories_are_the_bits_that_tokens_in_the_wild_have() {
    let catalogue = catalogue();
    let open = |mask: u64| -> BTreeSet<String> {
        let open = catalogue.categories().filter(|category| category.is_open_to(mask));
        open.map(|category| category.name().to_owned()).collect()
    };
    let all: BTreeSet<String> = catalogue.categories().map(|one| one.name().to_owned()).collect();
    assert_eq!(open(1_073_823_486), all);
    let without_users: BTreeSet<String> =
        all.iter().filter(|name| *name != "users").cloned().collect();
    assert_eq!(open(1_073_757_950), without_users);
    assert_eq!(open(16_126), without_users);
    assert_eq!(open(1 << 13), BTreeSet::from(["finance", "general"].map(str::to_owned)));
    assert_eq!(catalogue.read_only_bit(), Some(31), "bit 31 is worth 2^30");
}

/// The page is for readers, the catalogue for the program: they say the same.
#[test]
fn the_page_about_wildberries_tells_of_every_dataset_with_its_limits() {
    let page = include_str!("../../../../docs/wildberries.md");
    let catalogue = catalogue();
    let section = |dataset: Dataset| {
        let begin = page.find(&format!("\n## {dataset}\n"));
        let section = &page[begin.unwrap_or_else(|| panic!("no section about {dataset}")) + 1..];
        section.split("\n## ").next().expect("it is there")
    };
    for dataset in Dataset::ALL {
        for name in dataset.endpoints() {
            let endpoint = catalogue.endpoint(name).expect("it is there");
            let tells = |of: Dataset, text: &str| {
                of.endpoints().contains(name) && section(of).contains(text)
            };
            for family in endpoint.families() {
                let policy = catalogue.policy_of(endpoint, family).expect("a family");
                let policy = policy.expect("it is open").to_string();
                let policy = policy.split(" margin").next().expect("a policy");
                assert!(
                    Dataset::ALL.into_iter().any(|of| tells(of, policy)),
                    "{dataset}: {name} has {policy} for {family}"
                );
            }
        }
        if let Depth::Days(days) = dataset.depth() {
            assert!(
                section(dataset).contains(&format!("{days} days")) || dataset == Dataset::Sales
            );
        }
    }
}
