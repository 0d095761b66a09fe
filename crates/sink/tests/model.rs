//! Random batches against the simplest thing that could be right: a map.

mod rows;

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;
use waitless_sink::{Batch, Counts, Landed, RawValue, Row, Sink};

/// Account, dataset, key.
type Name = (String, String, String);

/// What should be stored, and what each batch should have answered.
#[derive(Default)]
struct Model {
    /// Version, moment, body.
    rows: BTreeMap<Name, (String, i64, String)>,
}

impl Model {
    fn land(&mut self, batch: &Batch) -> Landed {
        let name = |row: &Row| (batch.account.clone(), batch.dataset.clone(), row.key.clone());
        // Of each key the highest version, of equal versions the later row.
        let mut winners: BTreeMap<Name, &Row> = BTreeMap::new();
        for row in &batch.rows {
            let winner = winners.entry(name(row)).or_insert(row);
            if row.version >= winner.version {
                *winner = row;
            }
        }
        let mut landed = Landed::default();
        for (name, row) in winners {
            let new = (row.version.clone(), batch.fetched_at, row.body.get().to_owned());
            match self.rows.get_mut(&name) {
                None => {
                    self.rows.insert(name, new);
                    landed.inserted += 1;
                }
                Some(old) if (&old.0, &old.2) != (&new.0, &new.2) && old.0 <= new.0 => {
                    *old = new;
                    landed.updated += 1;
                }
                Some(_) => {}
            }
        }
        landed.unchanged = batch.rows.len() as u64 - landed.inserted - landed.updated;
        landed
    }

    fn counts(&self) -> Vec<(String, String, Counts)> {
        let mut counts: BTreeMap<(String, String), Counts> = BTreeMap::new();
        for (account, dataset, _) in self.rows.keys() {
            counts.entry((account.clone(), dataset.clone())).or_default().rows += 1;
        }
        counts.into_iter().map(|((account, dataset), count)| (account, dataset, count)).collect()
    }
}

/// Few names, so that they collide often, and strange ones.
fn row() -> impl Strategy<Value = Row> {
    let key = prop_oneof![
        8 => select(vec!["a", "b", "A", "a\0", "a\0b", "é", "e\u{301}", "ключ", "🦀"])
            .prop_map(String::from),
        1 => "\\PC{1,12}",
    ];
    let version = select(vec!["", "1", "10", "2", "2\0", "é", "\u{10ffff}"]);
    let body = select(vec!["1", "[2]", "[ 2]", "null", "{\"ё\":\"\\u0000\"}"]);
    (key, version, body).prop_map(|(key, version, body)| Row {
        key,
        version: version.into(),
        body: RawValue::from_string(body.into()).expect("the body is JSON"),
    })
}

fn batch() -> impl Strategy<Value = Batch> {
    let account = select(vec!["a", "b"]);
    let dataset = select(vec!["orders", "stocks"]);
    (account, dataset, any::<i64>(), vec(row(), 0..12)).prop_map(
        |(account, dataset, fetched_at, rows)| Batch {
            account: account.into(),
            dataset: dataset.into(),
            fetched_at,
            rows,
        },
    )
}

fn stored(connection: &Connection) -> BTreeMap<Name, (String, i64, String)> {
    let mut rows = connection
        .prepare("SELECT account, dataset, natural_key, version, fetched_at, body FROM landing")
        .expect("it prepares");
    let rows = rows.query_map([], |row| {
        Ok(((row.get(0)?, row.get(1)?, row.get(2)?), (row.get(3)?, row.get(4)?, row.get(5)?)))
    });
    rows.expect("it reads").collect::<rusqlite::Result<_>>().expect("every column has its type")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_sequence_of_batches_answers_and_stores_what_a_map_would(
        batches in vec(batch(), 1..24),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let place = rows::Place::new();
        let sink = runtime.block_on(place.open());
        let mut model = Model::default();
        for batch in &batches {
            let landed = runtime.block_on(sink.land(batch.clone())).expect("it lands");
            prop_assert_eq!(landed, model.land(batch));
            // And at once again, which must change nothing.
            let again = runtime.block_on(sink.land(batch.clone())).expect("it lands");
            let unchanged = batch.rows.len() as u64;
            prop_assert_eq!(again, Landed { unchanged, ..Landed::default() });
        }
        prop_assert_eq!(runtime.block_on(sink.counts()).expect("it counts"), model.counts());
        let connection = Connection::open(&place.path).expect("it opens");
        prop_assert_eq!(stored(&connection), model.rows);
    }
}
