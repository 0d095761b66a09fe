//! What the writer does inside a transaction.

use rusqlite::{Connection, named_params};

use super::queries;
use crate::{Batch, Landed, Quarantined, Rejects};

/// A change that is made whole or not at all.
#[derive(Debug)]
pub(crate) enum Change {
    /// Lands a batch in which every key appears once.
    Land(Batch),
    /// Keeps rows that could not be keyed.
    Quarantine(Rejects),
}

/// What a change has done, once it is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Of [`Change::Land`].
    Landed(Landed),
    /// Of [`Change::Quarantine`].
    Quarantined(Quarantined),
}

impl Change {
    /// Makes the change in the transaction that `connection` is in. The caller rolls it back if
    /// this fails.
    pub(crate) fn apply(&self, connection: &Connection) -> rusqlite::Result<Outcome> {
        match self {
            Self::Land(batch) => land(connection, batch).map(Outcome::Landed),
            Self::Quarantine(rejects) => quarantine(connection, rejects).map(Outcome::Quarantined),
        }
    }
}

/// Two statements and not one upsert, because an upsert does not tell whether it has inserted or
/// updated. A new row needs only the first.
fn land(connection: &Connection, batch: &Batch) -> rusqlite::Result<Landed> {
    let mut insert = connection.prepare_cached(queries::LAND_INSERT)?;
    let mut update = connection.prepare_cached(queries::LAND_UPDATE)?;
    let mut landed = Landed::default();
    for row in &batch.rows {
        let row = named_params! {
            ":account": batch.account,
            ":dataset": batch.dataset,
            ":natural_key": row.key,
            ":version": row.version,
            ":fetched_at": batch.fetched_at,
            ":body": row.body.get(),
        };
        if insert.execute(row)? == 1 {
            landed.inserted += 1;
        } else if update.execute(row)? == 1 {
            landed.updated += 1;
        } else {
            landed.unchanged += 1;
        }
    }
    Ok(landed)
}

fn quarantine(connection: &Connection, rejects: &Rejects) -> rusqlite::Result<Quarantined> {
    let mut insert = connection.prepare_cached(queries::QUARANTINE)?;
    let mut quarantined = Quarantined::default();
    for row in &rejects.rows {
        let inserted = insert.execute(named_params! {
            ":account": rejects.account,
            ":dataset": rejects.dataset,
            ":body": row.body,
            ":reason": row.reason,
            ":fetched_at": rejects.fetched_at,
        })?;
        if inserted == 1 {
            quarantined.inserted += 1;
        } else {
            quarantined.unchanged += 1;
        }
    }
    Ok(quarantined)
}
