//! Every query fits the schema, and walks an index.

use rusqlite::Connection;
use waitless_store_sqlite::{migrate, queries};

/// Queries that read all of something, because that is what they are asked for.
const READ_ALL: [&str; 10] = [
    "accounts",
    "buckets",
    "counters",
    "job_counts",
    "lanes",
    "limits",
    "runs",
    "waiting",
    "wait_lists",
    "all_jobs",
];

fn fresh() -> Connection {
    let mut connection = Connection::open_in_memory().expect("a database fits into memory");
    migrate(&mut connection).expect("an empty database can be brought up to date");
    connection
}

#[test]
fn every_query_fits_the_schema() {
    let connection = fresh();
    for (name, sql) in queries::ALL {
        if let Err(error) = connection.prepare(sql) {
            panic!("{name}: {error}");
        }
        assert!(sql.starts_with("-- "), "{name} does not say what it is for");
    }
}

#[test]
fn every_query_that_returns_a_job_lists_the_columns_of_the_table() {
    let connection = fresh();
    let columns = |sql: &str| {
        let statement = connection.prepare(sql).expect("it fits the schema");
        statement.column_names().map(str::to_owned).collect::<Vec<_>>()
    };
    let table = columns("SELECT * FROM jobs");
    let returning: Vec<_> =
        queries::ALL.iter().filter(|(_, sql)| sql.contains("the columns of a job.")).collect();
    assert!(!returning.is_empty());
    for (name, sql) in returning {
        assert_eq!(columns(sql), table, "{name}");
    }
}

#[test]
fn every_query_walks_an_index() {
    let connection = fresh();
    for (name, sql) in queries::ALL {
        let mut plan =
            connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("it fits the schema");
        let steps: Vec<String> = plan
            .raw_query()
            .mapped(|row| row.get("detail"))
            .collect::<Result<_, _>>()
            .expect("a plan can be read");
        let plan = steps.join("; ");
        // Counting a run's jobs by state groups what the index finds.
        let groups = *name == "job_counts_of_run";
        assert!(!plan.contains("TEMP B-TREE") || groups, "{name} sorts: {plan}");
        // A partial index that holds nothing else is walked from its beginning.
        let scans = plan.contains("SCAN")
            && !plan.contains("SCAN jobs USING")
            && !plan.contains("SCAN lanes USING");
        assert!(!scans || READ_ALL.contains(name), "{name} scans: {plan}");
    }
}
