use std::sync::Arc;

use waitless_bucket::UnixMillis;
use waitless_job::{AccountId, LimitGroup};

use super::{Result, Tables, lane};
use crate::model::{Account, Limit};

/// Pauses an account's lanes with a reason, or resumes them. Answers whether the account is known.
///
/// # Errors
/// Only those of the tables.
pub fn pause_account(
    tables: &mut dyn Tables,
    id: &AccountId,
    reason: Option<&str>,
    now: UnixMillis,
) -> Result<bool> {
    let Some(account) = tables.account(id)? else {
        return Ok(false);
    };
    tables.put_account(&Account { paused: reason.map(Arc::from), ..account })?;
    for key in tables.lanes_of(id)? {
        lane::replace(tables, &key, 0, now)?;
    }
    Ok(true)
}

/// Pauses limits of an account with a reason, or resumes them: those of these groups, or all of
/// them. Groups that have no limit there are passed over. Answers how many limits it changed.
///
/// A limit that is paused already keeps its reason: refusals of requests that were under way together
/// differ in their URLs, and the first has said what there is to say.
///
/// # Errors
/// Only those of the tables.
pub fn pause_limits(
    tables: &mut dyn Tables,
    account: &AccountId,
    groups: Option<&[LimitGroup]>,
    reason: Option<&Arc<str>>,
    now: UnixMillis,
) -> Result<usize> {
    let mut changed = 0;
    for (bucket, limit) in tables.limits_of(account)? {
        let is_meant = groups.is_none_or(|groups| groups.contains(&bucket.group));
        if !is_meant || limit.paused.is_some() == reason.is_some() {
            continue;
        }
        tables.put_limit(&bucket, &Limit { paused: reason.cloned(), ..limit })?;
        lane::replace_all_on(tables, &bucket, now)?;
        changed += 1;
    }
    Ok(changed)
}
