//! Following `lastChangeDate` over whole datasets.

use std::collections::BTreeSet;

use chrono::{Days, NaiveDate};
use waitless_wb_mock::{Dataset, DatasetSize, MockConfig, SellerSizes};

use crate::client::{
    Client, FOLLOWED, FROM_THE_BEGINNING, Imported, ORDERS, expected, import, key_of, last_change,
    path_of, start, unlimited,
};

/// Imports both datasets of every seller and compares all of it.
async fn imports_exactly_what_is_expected(config: MockConfig) {
    let mock = start(config).await;
    for seller in 0..mock.sellers().len() {
        let client = Client::of(&mock, seller);
        for dataset in FOLLOWED {
            let (imported, requests) = import(&client, dataset).await;
            assert!(imported == expected(&mock, seller, dataset), "{dataset} of seller {seller}");
            assert_eq!(imported.len() as u64, mock.expected_count(seller, dataset));
            assert_eq!(requests, mock.import_requests(seller, dataset), "requests for {dataset}");
        }
    }
}

fn of_all_sizes(page_rows: u32, late_updates: bool) -> MockConfig {
    let sizes =
        SellerSizes { orders: DatasetSize::Rows(0..=2500), sales: DatasetSize::Rows(0..=2500) };
    MockConfig { sellers: 4, sizes, late_updates, ..unlimited(0, page_rows) }
}

#[tokio::test]
async fn a_naive_client_ends_up_with_exactly_the_expected_rows() {
    imports_exactly_what_is_expected(of_all_sizes(400, false)).await;
}

#[tokio::test]
async fn a_naive_client_ends_up_with_exactly_the_expected_rows_after_late_updates() {
    imports_exactly_what_is_expected(of_all_sizes(400, true)).await;
}

#[tokio::test]
async fn a_dataset_of_one_page_gets_its_late_updates_too() {
    imports_exactly_what_is_expected(of_all_sizes(10_000, true)).await;
}

#[tokio::test]
async fn groups_that_are_larger_than_a_page_hold_nobody_up() {
    imports_exactly_what_is_expected(of_all_sizes(10, true)).await;
}

#[tokio::test]
async fn the_smallest_datasets_come_whole() {
    for rows in 0..4 {
        for late_updates in [false, true] {
            let config = MockConfig { late_updates, ..unlimited(rows, 1) };
            imports_exactly_what_is_expected(config).await;
        }
    }
}

#[tokio::test]
async fn late_updates_cancel_orders_that_were_served_before() {
    let mock = start(MockConfig { late_updates: true, ..unlimited(3000, 1000) }).await;
    let client = Client::of(&mock, 0);
    let before = client.page(ORDERS, FROM_THE_BEGINNING).await;
    let (after, _) = import(&client, Dataset::Orders).await;

    let end_of_the_others = "2026-10-01T14:30:00";
    let changed: Vec<_> = before
        .iter()
        .map(|row| (row, &after[&key_of(Dataset::Orders, row)]))
        .filter(|(before, after)| before != after)
        .collect();
    assert!(changed.len() > 3, "{} changed", changed.len());
    for (before, after) in changed {
        assert_eq!((&before["isCancel"], &after["isCancel"]), (&false.into(), &true.into()));
        assert_eq!(before["cancelDate"], "0001-01-01T00:00:00");
        assert_eq!(after["cancelDate"], after["lastChangeDate"]);
        assert_eq!(before["date"], after["date"]);
        assert!(last_change(before).as_str() < end_of_the_others);
        assert!(last_change(after).as_str() >= end_of_the_others);
    }
}

#[tokio::test]
async fn late_updates_fill_in_the_money_of_sales_that_were_served_before() {
    let mock = start(MockConfig { late_updates: true, ..unlimited(1000, 1000) }).await;
    let client = Client::of(&mock, 0);
    let before = client.page(path_of(Dataset::Sales), FROM_THE_BEGINNING).await;
    let (after, _) = import(&client, Dataset::Sales).await;

    let mut changed = 0;
    for row in &before {
        let now = &after[&key_of(Dataset::Sales, row)];
        if now != row {
            changed += 1;
            for money in ["finishedPrice", "priceWithDisc", "forPay"] {
                assert_eq!(row[money], 0);
                assert!(now[money].as_f64() > Some(0.0), "{money} of {now}");
            }
        }
    }
    assert!(changed > 2, "{changed} changed");
}

#[tokio::test]
async fn equal_seeds_give_equal_pages_and_other_seeds_do_not() {
    let first = start(unlimited(500, 200)).await;
    let again = start(unlimited(500, 200)).await;
    let other = start(MockConfig { seed: 2, ..unlimited(500, 200) }).await;
    for dataset in FOLLOWED {
        let query = format!("{}?dateFrom={FROM_THE_BEGINNING}", path_of(dataset));
        let page = Client::of(&first, 0).get(&query).await.body;
        assert_eq!(page, Client::of(&again, 0).get(&query).await.body);
        assert_ne!(page, Client::of(&other, 0).get(&query).await.body);
    }
    assert_eq!(first.sellers(), again.sellers());
    assert_eq!(first.token(0), again.token(0));
}

#[tokio::test]
async fn sellers_differ_in_size_and_share_no_key() {
    let sizes = SellerSizes { orders: DatasetSize::Pages(1..=9), ..SellerSizes::default() };
    let mock = start(MockConfig { sellers: 5, sizes, ..unlimited(0, 100) }).await;
    let sellers = 0..mock.sellers().len();
    let counts: BTreeSet<u64> =
        sellers.clone().map(|seller| mock.expected_count(seller, Dataset::Orders)).collect();
    assert!(counts.len() > 2, "{counts:?}");

    for dataset in FOLLOWED {
        let all = sellers.clone().flat_map(|seller| mock.expected(seller, dataset));
        let keys: Vec<String> = all.map(|row| row.key).collect();
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    }
}

#[tokio::test]
async fn pages_are_within_5_percent_of_the_cap_before_and_after_late_updates() {
    let mock = start(MockConfig { late_updates: true, ..unlimited(12_000, 1000) }).await;
    let client = Client::of(&mock, 0);
    for _ in ["before", "after"] {
        let mut from = FROM_THE_BEGINNING.to_owned();
        let mut sizes = BTreeSet::new();
        for _ in 0..9 {
            let page = client.page(ORDERS, &from).await;
            assert!((950..=1050).contains(&page.len()), "{} rows", page.len());
            sizes.insert(page.len());
            from = page.last().map(last_change).expect("rows");
        }
        assert!(sizes.len() > 1, "the cap is soft");
    }
}

#[tokio::test]
async fn the_last_group_comes_again_and_a_later_moment_has_no_rows() {
    let mock = start(unlimited(1000, 5000)).await;
    let client = Client::of(&mock, 0);
    let all = client.page(ORDERS, FROM_THE_BEGINNING).await;
    let last = all.last().map(last_change).expect("rows");
    let last_group: Vec<_> = all.iter().filter(|row| last_change(row) == last).cloned().collect();

    assert_eq!(client.page(ORDERS, &last).await, last_group);
    assert!(client.page(ORDERS, &format!("{last}.001")).await.is_empty());
    assert!(client.page(ORDERS, "2026-10-02").await.is_empty());
}

#[tokio::test]
async fn the_days_of_flag_1_have_no_cap_and_together_have_every_row_once() {
    let mock = start(MockConfig { late_updates: true, ..unlimited(3000, 10) }).await;
    let client = Client::of(&mock, 0);
    // Late updates first, so that what days hold does not change on the way.
    import(&client, Dataset::Orders).await;

    let mut found = Imported::new();
    let mut largest = 0;
    let today = NaiveDate::from_ymd_opt(2026, 10, 1).expect("a date");
    for day in (0..=93).map(|ago| today - Days::new(ago)) {
        let rows = client.page(ORDERS, &format!("{day}T13:45:00&flag=1")).await;
        largest = largest.max(rows.len());
        for row in rows {
            assert!(row["date"].as_str().is_some_and(|date| date.starts_with(&day.to_string())));
            assert!(found.insert(key_of(Dataset::Orders, &row), row).is_none());
        }
    }
    assert!(found == expected(&mock, 0, Dataset::Orders));
    assert!(largest > 20, "the largest day has {largest} rows");
}
