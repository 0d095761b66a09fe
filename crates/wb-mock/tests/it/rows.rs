//! What rows look like.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use waitless_wb_mock::Dataset;

use crate::client::{expected, key_of, start, unlimited};

const OF_BOTH: [&str; 22] = [
    "date",
    "lastChangeDate",
    "warehouseName",
    "warehouseType",
    "countryName",
    "oblastOkrugName",
    "regionName",
    "supplierArticle",
    "nmId",
    "barcode",
    "category",
    "subject",
    "brand",
    "techSize",
    "incomeID",
    "isSupply",
    "isRealization",
    "totalPrice",
    "discountPercent",
    "spp",
    "finishedPrice",
    "priceWithDisc",
];

fn fields(row: &Value) -> BTreeSet<&str> {
    row.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[tokio::test]
async fn rows_have_the_documented_fields_and_no_others() {
    let mock = start(unlimited(50, 100)).await;
    let of_orders = ["isCancel", "cancelDate", "sticker", "gNumber", "srid"];
    let of_sales = ["paymentSaleAmount", "forPay", "saleID", "sticker", "gNumber", "srid"];
    for (dataset, own) in [(Dataset::Orders, &of_orders[..]), (Dataset::Sales, &of_sales)] {
        let documented: BTreeSet<&str> = OF_BOTH.iter().chain(own).copied().collect();
        for row in expected(&mock, 0, dataset).values() {
            assert_eq!(fields(row), documented);
        }
    }
}

#[tokio::test]
async fn orders_have_both_formats_of_srid_and_a_year_1_for_never_cancelled() {
    let mock = start(unlimited(500, 1000)).await;
    let orders = expected(&mock, 0, Dataset::Orders);
    let is_hex = |srid: &str| srid.len() == 40 && srid.chars().all(|c| c.is_ascii_hexdigit());
    let hex = orders.keys().filter(|srid| is_hex(srid)).count();
    let dotted = orders.keys().filter(|srid| srid.split('.').count() == 4).count();
    assert_eq!(hex + dotted, orders.len());
    assert!(hex > 50 && dotted > 50, "{hex} and {dotted}");

    let cancelled = |order: &&Value| order["isCancel"] == true;
    assert!(orders.values().filter(cancelled).count() > 10);
    for order in orders.values() {
        let never = order["cancelDate"] == "0001-01-01T00:00:00";
        assert_eq!(never, order["isCancel"] == false);
        assert!(order["date"].as_str() <= order["lastChangeDate"].as_str());
    }
}

#[tokio::test]
async fn a_return_shares_its_srid_with_one_sale() {
    let mock = start(unlimited(600, 1000)).await;
    let mut by_srid: BTreeMap<String, Vec<char>> = BTreeMap::new();
    for row in expected(&mock, 0, Dataset::Sales).values() {
        let kind = key_of(Dataset::Sales, row).chars().next().expect("a letter");
        by_srid.entry(row["srid"].to_string()).or_default().push(kind);
    }
    let returns = by_srid.values().filter(|kinds| kinds.contains(&'R'));
    assert!(returns.clone().all(|kinds| kinds.len() == 2 && kinds.contains(&'S')));
    assert_eq!(returns.count(), 50);
}

/// Equal configurations give equal rows in every version of the mock, so that a run can be repeated.
#[tokio::test]
async fn the_first_rows_of_seed_1_look_like_this() {
    let mock = start(unlimited(12, 100)).await;
    let first = |dataset| -> Value {
        let row = mock.expected(0, dataset).next().expect("a row");
        serde_json::from_str(&row.body).expect("a JSON object")
    };
    assert_eq!(
        first(Dataset::Orders),
        json!({
            "date": "2026-08-27T09:18:56",
            "lastChangeDate": "2026-08-27T09:59:38",
            "warehouseName": "Склад WB РФ",
            "warehouseType": "Склад WB",
            "countryName": "Россия",
            "oblastOkrugName": "Приволжский федеральный округ",
            "regionName": "Республика Татарстан",
            "supplierArticle": "60249/088",
            "nmId": 132_563_813,
            "barcode": "2072211754709",
            "category": "Женщинам",
            "subject": "Блузки и рубашки",
            "brand": "Тест",
            "techSize": "0",
            "incomeID": 20_350_748,
            "isSupply": false,
            "isRealization": true,
            "totalPrice": 3201,
            "discountPercent": 56,
            "spp": 28,
            "finishedPrice": 1014,
            "priceWithDisc": 1408.44,
            "isCancel": false,
            "cancelDate": "0001-01-01T00:00:00",
            "sticker": "",
            "gNumber": "02289714622600723850",
            "srid": "7.r3d308a408b96ae030663f7d107339726.3.0",
        })
    );
    assert_eq!(
        first(Dataset::Sales),
        json!({
            "date": "2026-07-26T08:19:51",
            "lastChangeDate": "2026-07-26T08:34:05",
            "warehouseName": "Склад WB РФ",
            "warehouseType": "Склад WB",
            "countryName": "Россия",
            "oblastOkrugName": "Приволжский федеральный округ",
            "regionName": "Республика Татарстан",
            "supplierArticle": "60249/088",
            "nmId": 132_563_813,
            "barcode": "2072211754709",
            "category": "Женщинам",
            "subject": "Блузки и рубашки",
            "brand": "Тест",
            "techSize": "0",
            "incomeID": 20_350_748,
            "isSupply": false,
            "isRealization": true,
            "totalPrice": 3201,
            "discountPercent": 56,
            "spp": 28,
            "finishedPrice": 1014,
            "priceWithDisc": 1408.44,
            "paymentSaleAmount": 0,
            "forPay": 1154.92,
            "saleID": "S9000000000",
            "sticker": "",
            "gNumber": "02289714622600723850",
            "srid": "7.r3d308a408b96ae030663f7d107339726.3.0",
        })
    );
}
