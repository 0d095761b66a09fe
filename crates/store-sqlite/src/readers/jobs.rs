//! Looking at jobs.

use std::sync::Arc;

use rusqlite::{Connection, Result, named_params};
use uuid::Uuid;
use waitless_job::{JobId, JobRecord, JobState, RunId};
use waitless_store::ops::JobFilter;

use crate::{
    queries,
    rows::{self, all, at_most, class_number, groups_of, optional_value},
    tables,
};

pub(super) fn with_args(
    connection: &Connection,
    id: JobId,
) -> Result<Option<(JobRecord, Arc<str>)>> {
    let Some(job) = tables::job(connection, &id)? else {
        return Ok(None);
    };
    let args = tables::args(connection, &id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(Some((job, args)))
}

pub(super) fn jobs(connection: &Connection, filter: &JobFilter) -> Result<Vec<JobRecord>> {
    let Some((after, last)) = range(filter) else {
        return Ok(Vec::new());
    };
    // The narrowest index that fits; what it does not know is looked up in the rows.
    let query = if filter.run.is_some() {
        queries::JOBS_OF_RUN
    } else if filter.account.is_some() {
        queries::JOBS_OF_ACCOUNT
    } else if filter.state.is_some() {
        queries::JOBS_OF_STATE
    } else {
        queries::JOBS
    };
    let wanted = named_params! {
        ":after": after,
        ":last": last.as_bytes(),
        ":state": filter.state.map(JobState::as_str),
        ":account": filter.account.as_ref().map(|account| account.as_str()),
        ":kind": filter.kind.as_ref().map(|kind| kind.as_str()),
        ":run": filter.run.as_ref().map(|run| run.0.as_bytes()),
        ":limit": at_most(filter.limit),
    };
    all(connection, query, wanted, rows::job)
}

pub(super) fn counts(connection: &Connection, run: Option<RunId>) -> Result<Vec<(JobState, u64)>> {
    let read = |row: &rusqlite::Row<'_>| Ok((rows::state(row, 0)?, rows::unsigned(row, 1)?));
    let mut counts = match run {
        None => all(connection, queries::JOB_COUNTS, &[], read)?,
        Some(run) => {
            let which = named_params! { ":run": run.0.as_bytes() };
            all(connection, queries::JOB_COUNTS_OF_RUN, which, read)?
        }
    };
    counts.sort_unstable();
    Ok(counts)
}

pub(super) fn position(connection: &Connection, id: JobId) -> Result<Option<u64>> {
    let Some(job) = tables::job(connection, &id)? else {
        return Ok(None);
    };
    if job.state != JobState::Waiting {
        return Ok(None);
    }
    let place = named_params! {
        ":account": job.account.as_str(),
        ":groups": groups_of(&job.needs),
        ":class": class_number(job.class),
        ":seq": job.seq.cast_signed(),
    };
    let before: Option<i64> = optional_value(connection, queries::POSITION, place)?;
    Ok(before.map(i64::cast_unsigned))
}

/// The ids that a filter lets through: after the first, up to and with the second. `None` if there
/// can be none.
fn range(filter: &JobFilter) -> Option<(Vec<u8>, Uuid)> {
    let (first, last) = with_prefix(filter.id_prefix.as_deref().unwrap_or_default())?;
    let before_first = first.as_u128().checked_sub(1).map(Uuid::from_u128);
    let after = before_first.max(filter.after.map(|id| id.0));
    // Nothing sorts before the empty blob.
    Some((after.map_or(Vec::new(), |after| after.as_bytes().to_vec()), last))
}

/// The first and the last id whose text begins so.
fn with_prefix(prefix: &str) -> Option<(Uuid, Uuid)> {
    const HYPHENS: [usize; 4] = [8, 13, 18, 23];
    const TEXT_LEN: usize = 36;
    if prefix.len() > TEXT_LEN {
        return None;
    }
    let (mut first, mut last) = (0_u128, 0_u128);
    for index in 0..TEXT_LEN {
        let is_hyphen = HYPHENS.contains(&index);
        let (low, high) = match prefix.as_bytes().get(index) {
            Some(b'-') if is_hyphen => continue,
            None if is_hyphen => continue,
            Some(digit @ (b'0'..=b'9' | b'a'..=b'f')) if !is_hyphen => {
                let digit = char::from(*digit).to_digit(16)?;
                (digit, digit)
            }
            Some(_) => return None,
            None => (0, 15),
        };
        first = first << 4 | u128::from(low);
        last = last << 4 | u128::from(high);
    }
    Some((Uuid::from_u128(first), Uuid::from_u128(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_range_of_ids() {
        let range =
            |prefix| with_prefix(prefix).map(|(first, last)| (first.to_string(), last.to_string()));
        let whole = "0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b";
        assert_eq!(range(whole), Some((whole.into(), whole.into())));
        assert_eq!(
            range("0190a1b2-c"),
            Some((
                "0190a1b2-c000-0000-0000-000000000000".into(),
                "0190a1b2-cfff-ffff-ffff-ffffffffffff".into(),
            ))
        );
        assert_eq!(range("0190a1b2"), range("0190a1b2-"));
        assert_eq!(range(""), Some((Uuid::nil().to_string(), Uuid::max().to_string())));
        for none in ["0190A", "0190a1b2c", "-", "0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b0", "é"] {
            assert_eq!(range(none), None, "{none}");
        }
    }
}
