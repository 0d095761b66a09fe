//! Lanes and their index.

use rusqlite::{Connection, Result, named_params};
use waitless_bucket::UnixMillis;
use waitless_job::{AccountId, LaneKey};
use waitless_store::{
    model::{Lane, Place, Rank},
    ops::Accounts,
};

use crate::{
    queries,
    rows::{self, all, at_most, class_number, execute, groups_of_lane, optional, optional_value},
};

pub(crate) fn lane(connection: &Connection, key: &LaneKey) -> Result<Lane> {
    let which = named_params! {
        ":account": key.account().as_str(), ":groups": groups_of_lane(key),
    };
    let lane = optional(connection, queries::LANE, which, rows::lane)?;
    Ok(lane.unwrap_or(Lane { waiting: 0, place: Place::Empty }))
}

pub(super) fn put_lane(connection: &Connection, key: &LaneKey, lane: &Lane) -> Result<()> {
    let (account, groups) = (key.account().as_str(), groups_of_lane(key));
    let (place, ready_at, rank) = match lane.place {
        Place::Empty => {
            let which = named_params! { ":account": account, ":groups": groups };
            return execute(connection, queries::REMOVE_LANE, which).map(drop);
        }
        Place::Paused => ("paused", None, None),
        Place::Parked { ready_at } => ("parked", Some(ready_at.0), None),
        Place::Ready(rank) => ("ready", None, Some(rank)),
    };
    let lane = named_params! {
        ":account": account,
        ":groups": groups,
        ":waiting": lane.waiting.cast_signed(),
        ":place": place,
        ":ready_at": ready_at,
        ":class": rank.map(|rank| class_number(rank.class)),
        ":full_at": rank.map(|rank| rank.full_at.0),
        ":token_ms": rank.map(|rank| rank.token_ms.0.cast_signed()),
        ":time_to_full_ms": rank.map(|rank| rank.time_to_full_ms.cast_signed()),
    };
    execute(connection, queries::PUT_LANE, lane).map(drop)
}

pub(super) fn lanes_of(connection: &Connection, account: &AccountId) -> Result<Vec<LaneKey>> {
    let which = named_params! { ":account": account.as_str() };
    all(connection, queries::LANES_OF, which, |row| rows::lane_key(row, 0))
}

pub(super) fn parked_until(
    connection: &Connection,
    now: UnixMillis,
    limit: usize,
) -> Result<Vec<LaneKey>> {
    let which = named_params! { ":now": now.0, ":limit": at_most(limit) };
    all(connection, queries::PARKED_UNTIL, which, |row| rows::lane_key(row, 0))
}

pub(super) fn next_parked(connection: &Connection) -> Result<Option<UnixMillis>> {
    Ok(optional_value(connection, queries::NEXT_PARKED, &[])?.map(UnixMillis))
}

pub(super) fn ready(
    connection: &Connection,
    limit: usize,
    accounts: &Accounts,
) -> Result<Vec<(LaneKey, Rank)>> {
    let mut statement = connection.prepare_cached(queries::READY)?;
    let mut ready = statement.query([])?;
    let mut lanes = Vec::new();
    while lanes.len() < limit
        && let Some(row) = ready.next()?
    {
        if accounts.include(row.get_ref(0)?.as_str()?) {
            lanes.push((rows::lane_key(row, 0)?, rows::rank(row, 2)?));
        }
    }
    Ok(lanes)
}
