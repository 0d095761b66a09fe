use waitless_bucket::{
    BucketState, Policy, UnixMillis, accept, change_policy, charge, current, late, reject, release,
};
use waitless_job::{BucketKey, Cost, Feedback};

use super::{
    Result, Tables,
    lane::{self, Loaded},
};
use crate::model::{Account, Limit};

/// Sets limits; buckets and lanes that they change are carried over, and a pause stays.
///
/// # Errors
/// Only those of the tables.
pub fn set_limits(
    tables: &mut dyn Tables,
    limits: &[(BucketKey, Policy)],
    now: UnixMillis,
) -> Result<()> {
    for (bucket, new) in limits {
        let old = tables.limit(bucket)?;
        if old.as_ref().is_some_and(|old| old.policy == *new) {
            continue;
        }
        if let (Some(old), Some(state)) = (&old, tables.bucket(bucket)?) {
            tables.put_bucket(bucket, &change_policy(&state, &old.policy, new, now))?;
        }
        let paused = old.and_then(|old| old.paused);
        tables.put_limit(bucket, &Limit { policy: *new, paused })?;
        lane::replace_all_on(tables, bucket, now)?;
    }
    Ok(())
}

/// Adds an account, or changes all of it but its pause and the moment it was first seen. A new one
/// is not paused, whatever is given: its jobs may wait already, and pausing their lanes is another
/// step.
///
/// # Errors
/// Only those of the tables.
pub fn put_account(tables: &mut dyn Tables, account: &Account) -> Result<()> {
    let account = match tables.account(&account.id)? {
        Some(known) => {
            Account { paused: known.paused, added_at: known.added_at, ..account.clone() }
        }
        None => Account { paused: None, ..account.clone() },
    };
    tables.put_account(&account)
}

/// Takes down what an upstream's answer said about a bucket. Answers whether that was anything new:
/// most answers say what the bucket knows already, and those write nothing.
///
/// # Errors
/// [`StoreError::UnknownLimit`](crate::StoreError::UnknownLimit), and those of the tables.
pub fn feedback(
    tables: &mut dyn Tables,
    bucket: &BucketKey,
    feedback: Feedback,
    now: UnixMillis,
) -> Result<bool> {
    let Loaded { policy, state, .. } = Loaded::read(tables, bucket.clone(), Cost::ONE)?;
    let after = apply(state.as_ref(), &policy, feedback, now);
    // Compared with what the bucket has become by itself: that only its clock moved on is no news.
    if after == current(state.as_ref(), &policy, now) {
        return Ok(false);
    }
    tables.put_bucket(bucket, &after)?;
    lane::replace_all_on(tables, bucket, now)?;
    Ok(true)
}

fn apply(
    state: Option<&BucketState>,
    policy: &Policy,
    feedback: Feedback,
    now: UnixMillis,
) -> BucketState {
    match feedback {
        Feedback::Accepted { remaining, in_flight, sent_at } => {
            accept(state, policy, remaining, in_flight, sent_at, now)
        }
        Feedback::Charged { extra } => charge(state, policy, extra, now),
        Feedback::Late { late_ms } => late(state, policy, late_ms, now),
        Feedback::Released => release(state, policy, now),
        Feedback::Rejected { until, refund, sent_at } => {
            reject(state, policy, until, refund, sent_at, now)
        }
    }
}
