//! Rows as no upstream should send them: every field of every key null, missing, empty, of another
//! type, huge and negative.

use serde_json::{Value, json, value::RawValue};
use uuid::Uuid;

use super::{
    cards::Cards,
    changes::Changes,
    fbs_orders::FbsOrders,
    feedbacks::Feedbacks,
    finance::Finance,
    funnel_csv::FunnelCsv,
    pages::Pages,
    play::{NOON, scoped},
    tariffs::Tariffs,
    tasks::Tasks,
};
use crate::source::{Next, Read, Source};

/// What a source makes of one row of its first page.
fn read<S: Source>(source: &S, row: &Value) -> Vec<Read> {
    let (Next::Ask(cursor) | Next::Wait { cursor, .. }) = source.begin(NOON) else {
        panic!("it begins with a request");
    };
    let row = RawValue::from_string(row.to_string()).expect("it is JSON");
    source.read(&cursor, &row, &mut S::Seen::default())
}

type Reader = Box<dyn Fn(&Value) -> Vec<Read>>;

/// A dataset's reader, a good row of it, its key, and the fields that the key is made of; those that
/// may be empty are marked with `?`.
struct Case {
    name: &'static str,
    read: Reader,
    row: Value,
    key: &'static str,
    fields: &'static [&'static str],
}

fn case<S: Source + 'static>(
    name: &'static str,
    source: S,
    row: Value,
    key: &'static str,
    fields: &'static [&'static str],
) -> Case {
    Case { name, read: Box::new(move |row| read(&source, row)), row, key, fields }
}

fn cases() -> Vec<Case> {
    let since = "2026-09-30";
    let period = json!({ "start": "2026-09-01", "end": "2026-09-30" });
    vec![
        case(
            "stocks",
            scoped(since, Pages::stocks),
            json!({ "nmId": 1, "chrtId": 2, "warehouseId": 3, "quantity": 4 }),
            "1/2/3",
            &["nmId", "chrtId", "warehouseId"],
        ),
        case(
            "remains",
            scoped(since, Tasks::remains),
            json!({ "nmId": 1, "barcode": "2", "techSize": "0", "warehouses": [] }),
            "1/2/0",
            &["nmId", "barcode?", "techSize?"],
        ),
        case(
            "acceptance",
            scoped(since, Tasks::acceptance),
            json!({ "incomeId": 1, "nmID": 2, "giCreateDate": "a", "shkCreateDate": "b", "total": 1.5 }),
            "1/2/a/b",
            &["incomeId", "nmID", "giCreateDate", "shkCreateDate"],
        ),
        case(
            "storage",
            scoped(since, Tasks::storage),
            json!({
                "date": "d", "officeId": 507, "giId": 1, "chrtId": 2, "barcode": "3",
                "calcType": "короба", "palletPlaceCode": 0, "warehousePrice": 8.14,
            }),
            "d/507/1/2/3/короба/0",
            &["date", "officeId", "giId", "chrtId", "barcode?", "calcType?", "palletPlaceCode?"],
        ),
        case(
            "funnel",
            scoped(since, Pages::funnel),
            json!({ "product": { "nmId": 1 }, "statistic": { "selected": { "period": period } } }),
            "1/2026-09-01/2026-09-30",
            &["product.nmId", "statistic.selected.period.start", "statistic.selected.period.end"],
        ),
        case(
            "funnel-csv",
            scoped(since, |scope| FunnelCsv::of(scope, Uuid::nil())),
            json!({ "nmID": "1", "dt": "2026-09-30", "ordersCount": "7" }),
            "1/2026-09-30",
            &["nmID", "dt"],
        ),
        case(
            "cards",
            scoped(since, Cards::of),
            json!({ "nmID": 1, "updatedAt": "2026-09-30T10:00:00Z", "title": "x" }),
            "1",
            &["nmID"],
        ),
        case("finance", scoped(since, Finance::of), json!({ "rrdId": 1 }), "1", &["rrdId"]),
        case("prices", scoped(since, Pages::prices), json!({ "nmID": 1 }), "1", &["nmID"]),
        case("fbs-orders", scoped(since, FbsOrders::of), json!({ "id": 1 }), "1", &["id"]),
        case("feedbacks", scoped(since, Feedbacks::of), json!({ "id": "x" }), "x", &["id"]),
        case(
            "tariffs",
            scoped(since, Tariffs::of),
            json!({ "subjectID": 1 }),
            "commission/1",
            &["subjectID"],
        ),
        case(
            "orders",
            scoped(since, Changes::orders),
            json!({ "srid": "x", "lastChangeDate": "2026-09-30T10:00:00" }),
            "x",
            &["srid"],
        ),
        case(
            "sales",
            scoped(since, Changes::sales),
            json!({ "saleID": "S1", "lastChangeDate": "2026-09-30T10:00:00" }),
            "S1",
            &["saleID"],
        ),
    ]
}

/// The row with another value in a field; `None` takes the field out.
fn with(row: &Value, path: &str, value: Option<Value>) -> Value {
    let mut row = row.clone();
    let (parents, last) = path.rsplit_once('.').unwrap_or(("", path));
    let mut place = &mut row;
    for name in parents.split('.').filter(|name| !name.is_empty()) {
        place = &mut place[name];
    }
    let fields = place.as_object_mut().expect("an object");
    match value {
        Some(value) => fields.insert(last.to_owned(), value),
        None => fields.remove(last),
    };
    row
}

fn key_of(read: &[Read]) -> &str {
    match read {
        [Ok(keyed)] => &keyed.key,
        other => panic!("not one row: {other:?}"),
    }
}

#[test]
fn a_good_row_lands_under_its_key() {
    for case in cases() {
        assert_eq!(key_of(&(case.read)(&case.row)), case.key, "{}", case.name);
    }
}

#[test]
fn a_field_of_a_key_that_is_of_no_use_is_named_in_the_quarantine() {
    let bad = [json!(null), json!(true), json!([1]), json!({ "a": 1 }), json!(1.5), json!("")];
    for case in cases() {
        for field in case.fields {
            let (field, may_be_empty) = match field.strip_suffix('?') {
                Some(field) => (field, true),
                None => (*field, false),
            };
            for value in bad.iter().cloned().map(Some).chain([None]) {
                if may_be_empty && value == Some(json!("")) {
                    continue;
                }
                let row = with(&case.row, field, value);
                match &(case.read)(&row)[..] {
                    [Err(reason)] => {
                        let name = format!("`{field}`");
                        assert!(reason.contains(&name), "{}: {row}: {reason}", case.name);
                    }
                    other => panic!("{}: {row}: {other:?}", case.name),
                }
            }
        }
    }
}

#[test]
fn huge_and_negative_numbers_and_numbers_as_texts_are_keys() {
    for case in cases() {
        for field in case.fields {
            let field = field.trim_end_matches('?');
            let number = |value| (case.read)(&with(&case.row, field, Some(value)));
            let texts = [json!("17"), json!(17), json!(17.0)]
                .map(|value| key_of(&number(value)).to_owned());
            assert_eq!((&texts[0], &texts[0]), (&texts[1], &texts[2]), "{}", case.name);
            for (value, part) in
                [(json!(u64::MAX), u64::MAX.to_string()), (json!(-5), "-5".to_owned())]
            {
                let read = number(value);
                let key = key_of(&read);
                assert!(key.split('/').any(|one| *one == part), "{}: {key}", case.name);
            }
        }
    }
}

#[test]
fn fields_that_are_no_part_of_the_key_may_be_anything() {
    for case in cases() {
        for value in
            [json!(null), json!(true), json!([[]]), json!({}), json!(-1e300), json!("\u{0}")]
        {
            let mut row = with(&case.row, "new", Some(value.clone()));
            for field in ["quantity", "warehouses", "total", "warehousePrice", "title"] {
                row[field] = value.clone();
            }
            assert_eq!(key_of(&(case.read)(&row)), case.key, "{}: {row}", case.name);
        }
    }
}

#[test]
fn what_is_no_object_is_no_row() {
    for case in cases() {
        for row in [json!(null), json!(17), json!("x"), json!([case.row])] {
            match &(case.read)(&row)[..] {
                [Err(reason)] => assert!(reason.starts_with("it is no row"), "{reason}"),
                other => panic!("{}: {row}: {other:?}", case.name),
            }
        }
    }
}
