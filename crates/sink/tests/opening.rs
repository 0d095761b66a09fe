//! What opening accepts, and what it says otherwise.

mod rows;

use std::fs;
use std::path::Path;

use rows::{Place, batch};
use rusqlite::Connection;
use waitless_sink::{SinkError, SinkUrl, SqliteSink, open};

async fn error_of(url: &str) -> SinkError {
    open(url).await.expect_err("it does not open")
}

async fn error_at(path: &Path) -> SinkError {
    SqliteSink::open(SinkUrl::File(path.into())).await.expect_err("it does not open")
}

#[tokio::test]
async fn a_file_and_memory_can_be_opened_by_their_urls() {
    let place = Place::new();
    let url = format!("sqlite:{}", place.path.display());
    for url in [url.as_str(), "sqlite::memory:"] {
        let sink = open(url).await.unwrap();
        assert_eq!(sink.land(batch(10, &[("k", "1", "1")])).await.unwrap().inserted, 1);
        assert_eq!(sink.count("a", "d").await.unwrap().rows, 1);
    }
    assert!(place.path.is_file());
}

#[tokio::test]
async fn other_urls_are_refused_with_what_is_accepted_and_without_their_passwords() {
    let accepted = "accepted are `sqlite:PATH` and `sqlite::memory:`";
    for (url, says) in [
        ("postgres://me:secret@db/rows", "PostgreSQL comes later"),
        ("postgresql://me:secret@db/rows", "PostgreSQL comes later"),
        ("mysql://me:secret@db/rows", "the scheme \"mysql\""),
        ("SQLITE:rows.db", "the scheme \"SQLITE\""),
        ("rows.db", "the scheme \"\""),
        ("", "the scheme \"\""),
    ] {
        let text = error_of(url).await.to_string();
        assert!(text.contains(says) && text.contains(accepted), "{url}: {text}");
        assert!(!text.contains("secret"), "{text}");
    }
    assert!(matches!(error_of("sqlite:").await, SinkError::PathMissing));
    assert!(matches!(error_of("sqlite://rows.db").await, SinkError::UrlSlashes));
}

#[tokio::test]
async fn a_path_that_looks_like_a_uri_is_taken_literally() {
    let place = Place::new();
    let path = place.directory.path().join("file:rows?mode=memory");
    rows::open(&path).await;
    assert!(path.is_file());
}

#[tokio::test]
async fn a_missing_directory_is_named() {
    let place = Place::new();
    let missing = place.directory.path().join("missing");
    match error_at(&missing.join("rows.db")).await {
        SinkError::DirectoryMissing { directory, .. } => assert_eq!(directory, missing),
        error => panic!("{error:?}"),
    }
    assert!(!missing.exists(), "a typing error makes no directories");
}

#[tokio::test]
async fn a_directory_cannot_be_opened() {
    let place = Place::new();
    let error = error_at(place.directory.path()).await;
    assert!(matches!(error, SinkError::CannotOpen { .. }), "{error:?}");
}

#[tokio::test]
async fn a_file_that_is_not_sqlite_is_left_as_it_is() {
    let place = Place::new();
    let text = "key;version;body\n".repeat(1000);
    fs::write(&place.path, &text).unwrap();
    let error = error_at(&place.path).await;
    assert!(matches!(error, SinkError::NotSqlite { .. }), "{error:?}");
    assert_eq!(fs::read_to_string(&place.path).unwrap(), text);
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused() {
    let place = Place::new();
    drop(place.open().await);
    Connection::open(&place.path)
        .unwrap()
        .execute(
            "INSERT INTO sink_schema_history (version, name, applied_on, checksum)
             VALUES (7001, 'from_the_future', '2030-01-01T00:00:00Z', '1')",
            [],
        )
        .unwrap();
    let error = error_at(&place.path).await;
    assert!(matches!(error, SinkError::SchemaNewer { found: 7001, known: 1, .. }), "{error:?}");
}

#[tokio::test]
async fn a_migration_that_was_changed_after_it_ran_is_refused() {
    let place = Place::new();
    drop(place.open().await);
    let connection = Connection::open(&place.path).unwrap();
    connection.execute("UPDATE sink_schema_history SET checksum = '1'", []).unwrap();
    let error = error_at(&place.path).await;
    assert!(matches!(error, SinkError::Migration { .. }), "{error:?}");
}

#[tokio::test]
async fn a_file_of_another_program_is_refused_and_its_table_is_left_alone() {
    let place = Place::new();
    let connection = Connection::open(&place.path).unwrap();
    connection.execute_batch("CREATE TABLE landing (other)").unwrap();
    let error = error_at(&place.path).await;
    assert!(matches!(error, SinkError::Migration { .. }), "{error:?}");
    let columns = "SELECT group_concat(name) FROM pragma_table_info('landing')";
    let columns: String = connection.query_row(columns, [], |row| row.get(0)).unwrap();
    assert_eq!(columns, "other");
}

#[cfg(unix)]
#[tokio::test]
async fn a_read_only_file_is_refused() {
    let place = Place::new();
    drop(place.open().await);
    let mut permissions = fs::metadata(&place.path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&place.path, permissions).unwrap();
    if fs::OpenOptions::new().write(true).open(&place.path).is_ok() {
        // The superuser may write all files. `group.rs` has a test of the same error for everyone.
        return;
    }
    let error = error_at(&place.path).await;
    assert!(matches!(error, SinkError::ReadOnly { .. }), "{error:?}");
}
