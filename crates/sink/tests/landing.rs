//! What landing, quarantining and reading promise.

mod rows;

use rows::{Place, batch, rejects, stored};
use waitless_sink::{Batch, Counts, Landed, Quarantined, Sink, SinkError, SinkUrl, SqliteSink};

fn landed(inserted: u64, updated: u64, unchanged: u64) -> Landed {
    Landed { inserted, updated, unchanged }
}

#[tokio::test]
async fn a_page_landed_twice_leaves_its_rows_once_and_brings_nothing_new() {
    let place = Place::new();
    let sink = place.open().await;
    let page = [("k1", "1", "{}"), ("k2", "1", "{}")];

    assert_eq!(sink.land(batch(10, &page)).await.unwrap(), landed(2, 0, 0));
    let again = sink.land(batch(20, &page)).await.unwrap();
    assert_eq!(again, landed(0, 0, 2));
    assert!(again.nothing_new());
    let row = |key: &str| (key.into(), "1".into(), 10, "{}".into());
    assert_eq!(stored(&place.path), [row("k1"), row("k2")], "and keep their first moment");
}

#[tokio::test]
async fn a_replayed_old_page_does_not_overwrite_newer_rows() {
    let place = Place::new();
    let sink = place.open().await;
    sink.land(batch(10, &[("k", "2026-11-29", "1")])).await.unwrap();

    let newer = batch(20, &[("k", "2026-11-30", "2")]);
    assert_eq!(sink.land(newer).await.unwrap(), landed(0, 1, 0));
    let replayed = batch(30, &[("k", "2026-11-29", "1")]);
    assert_eq!(sink.land(replayed).await.unwrap(), landed(0, 0, 1));
    assert_eq!(stored(&place.path), [("k".into(), "2026-11-30".into(), 20, "2".into())]);
}

#[tokio::test]
async fn of_equal_versions_the_last_write_wins() {
    let place = Place::new();
    let sink = place.open().await;
    sink.land(batch(10, &[("k", "1", "1")])).await.unwrap();
    assert_eq!(sink.land(batch(20, &[("k", "1", "2")])).await.unwrap(), landed(0, 1, 0));
    assert_eq!(stored(&place.path), [("k".into(), "1".into(), 20, "2".into())]);
}

#[tokio::test]
async fn a_newer_version_with_the_same_body_is_an_update() {
    let place = Place::new();
    let sink = place.open().await;
    sink.land(batch(10, &[("k", "1", "1")])).await.unwrap();
    assert_eq!(sink.land(batch(20, &[("k", "2", "1")])).await.unwrap(), landed(0, 1, 0));
    assert_eq!(stored(&place.path), [("k".into(), "2".into(), 20, "1".into())]);
}

#[tokio::test]
async fn a_page_with_two_bodies_for_one_key_brings_nothing_new_the_second_time() {
    let place = Place::new();
    let sink = place.open().await;
    let page = [("k", "1", "1"), ("k", "2", "2"), ("k", "2", "3"), ("k", "0", "4")];
    assert_eq!(sink.land(batch(10, &page)).await.unwrap(), landed(1, 0, 3));
    assert_eq!(sink.land(batch(20, &page)).await.unwrap(), landed(0, 0, 4));
    assert_eq!(stored(&place.path), [("k".into(), "2".into(), 10, "3".into())]);
}

#[tokio::test]
async fn an_empty_batch_lands_nothing() {
    let sink = SqliteSink::open(SinkUrl::Memory).await.unwrap();
    assert_eq!(sink.land(batch(10, &[])).await.unwrap(), landed(0, 0, 0));
    assert_eq!(sink.quarantine(rejects(10, &[])).await.unwrap(), Quarantined::default());
    assert_eq!(sink.counts().await.unwrap(), []);
}

#[tokio::test]
async fn an_empty_key_is_named_and_nothing_of_its_batch_lands() {
    let sink = SqliteSink::open(SinkUrl::Memory).await.unwrap();
    let error = sink.land(batch(10, &[("k", "1", "1"), ("", "1", "1")])).await.unwrap_err();
    assert!(matches!(error, SinkError::EmptyKey { row: 1, .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "row 1 of a batch for account \"a\", dataset \"d\" has an empty key, so nothing of the \
         batch was landed: quarantine the rows that cannot be keyed"
    );
    assert_eq!(sink.count("a", "d").await.unwrap(), Counts::default());
}

#[tokio::test]
async fn any_text_survives_in_keys_versions_and_bodies() {
    let place = Place::new();
    let sink = place.open().await;
    // In the byte order of the keys.
    let rows = [
        ("\0", "\0", r#""\u0000""#),
        ("\0\0", "", "[1 ,\n 2.0e0]"),
        ("'; DROP TABLE landing; --", "v", "null"),
        ("a\0b", "1\0", "{\"a\":1,\"a\":2}"),
        ("a\0c", "1", "12345678901234567890.10"),
        ("é", "\u{feff}", "\"\u{feff}\""),
        ("\u{301}e", "e\u{301}", "\"e\u{301}\u{e9}\""),
        ("заказ", "я", "\"Ё\""),
        ("\u{ffff}", "1", "\"\u{ffff}\""),
        ("\u{10ffff}🦀", "👩‍👩‍👧", "\"👩‍👩‍👧\""),
    ];
    assert_eq!(sink.land(batch(-1, &rows)).await.unwrap(), landed(10, 0, 0));
    assert_eq!(sink.land(batch(0, &rows)).await.unwrap(), landed(0, 0, 10));

    let expected = rows.map(|(key, version, body)| (key.into(), version.into(), -1, body.into()));
    assert_eq!(stored(&place.path), expected);
    let scanned = sink.scan("a", "d", None, 100).await.unwrap();
    assert_eq!(scanned, rows.map(|(key, version, _)| (key.into(), version.into())));

    let body = ("no key", "not JSON \0 at all \u{10ffff}");
    assert_eq!(
        sink.quarantine(rejects(0, &[body])).await.unwrap(),
        Quarantined { inserted: 1, unchanged: 0 }
    );
    let connection = rusqlite::Connection::open(&place.path).unwrap();
    let kept: String =
        connection.query_row("SELECT body FROM quarantine", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, body.1);
}

#[tokio::test]
async fn a_body_is_quarantined_once_for_each_dataset() {
    let sink = SqliteSink::open(SinkUrl::Memory).await.unwrap();
    let kept = |inserted, unchanged| Quarantined { inserted, unchanged };

    let first = rejects(10, &[("no srid", "{}"), ("no srid", "[]"), ("null srid", "{}")]);
    assert_eq!(sink.quarantine(first.clone()).await.unwrap(), kept(2, 1));
    assert_eq!(sink.quarantine(first).await.unwrap(), kept(0, 3));
    let mut elsewhere = rejects(10, &[("no srid", "{}")]);
    elsewhere.dataset = "e".into();
    assert_eq!(sink.quarantine(elsewhere).await.unwrap(), kept(1, 0));
    assert_eq!(sink.count("a", "d").await.unwrap(), Counts { rows: 0, quarantined: 2 });
}

#[tokio::test]
async fn counts_are_by_account_and_dataset_in_their_order() {
    let sink = SqliteSink::open(SinkUrl::Memory).await.unwrap();
    let rows = [("k1", "1", "1"), ("k2", "1", "1")];
    for (account, dataset) in [("b", "d"), ("a", "e"), ("a", "d")] {
        let batch = Batch { account: account.into(), dataset: dataset.into(), ..batch(10, &rows) };
        sink.land(batch).await.unwrap();
    }
    let mut only_rejects = rejects(10, &[("no key", "{}")]);
    only_rejects.dataset = "f".into();
    sink.quarantine(only_rejects).await.unwrap();
    sink.quarantine(rejects(10, &[("no key", "{}")])).await.unwrap();

    let counts = |rows, quarantined| Counts { rows, quarantined };
    assert_eq!(
        sink.counts().await.unwrap(),
        [
            ("a".into(), "d".into(), counts(2, 1)),
            ("a".into(), "e".into(), counts(2, 0)),
            ("a".into(), "f".into(), counts(0, 1)),
            ("b".into(), "d".into(), counts(2, 0)),
        ]
    );
    assert_eq!(sink.count("a", "d").await.unwrap(), counts(2, 1));
    assert_eq!(sink.count("nobody", "d").await.unwrap(), counts(0, 0));
}

#[tokio::test]
async fn scanning_page_by_page_names_every_key_once_in_order() {
    let place = Place::new();
    let sink = place.open().await;
    let keys: Vec<String> = (0..100).map(|key| format!("{key:03}")).collect();
    let rows: Vec<_> = keys.iter().rev().map(|key| (key.as_str(), "1", "1")).collect();
    sink.land(batch(10, &rows)).await.unwrap();
    let other = Batch { dataset: "e".into(), ..batch(10, &[("050x", "1", "1")]) };
    sink.land(other).await.unwrap();

    let mut scanned: Vec<String> = Vec::new();
    loop {
        let after = scanned.last().map(String::as_str);
        let page = sink.scan("a", "d", after, 7).await.unwrap();
        assert!(page.len() <= 7);
        if page.is_empty() {
            break;
        }
        scanned.extend(page.into_iter().map(|(key, _)| key));
    }
    assert_eq!(scanned, keys);
    assert_eq!(sink.scan("a", "d", None, 0).await.unwrap(), []);
    assert_eq!(sink.scan("a", "d", Some("098"), usize::MAX).await.unwrap().len(), 1);
}

#[tokio::test]
async fn rows_are_still_there_when_the_file_is_opened_again() {
    let place = Place::new();
    place.open().await.land(batch(10, &[("k", "1", "1")])).await.unwrap();
    let sink = place.open().await;
    assert_eq!(sink.count("a", "d").await.unwrap().rows, 1);
    assert_eq!(sink.land(batch(20, &[("k", "1", "1")])).await.unwrap(), landed(0, 0, 1));
}
