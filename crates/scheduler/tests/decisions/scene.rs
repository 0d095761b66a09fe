//! Jobs and limits as a store would show them.

use waitless_job::{
    AccountId, Class, Cost, JobId, JobRecord, JobState, Need, Needs, Progress, UnixMillis,
};
use waitless_store::model::LimitView;

pub(crate) const NOW: UnixMillis = UnixMillis(1_790_000_000_000);

/// A job's id whose random part follows from `seed`, as a version 7 UUID has it.
pub(crate) fn job_id(seed: u64) -> JobId {
    // The output function of SplitMix64: neighbouring seeds give bits that have nothing in common.
    let mut bits = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^= bits >> 31;
    let low = (bits & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000;
    format!("01a0c4a5f80070{:02x}{low:016x}", seed % 256).parse().expect("it is a UUID")
}

/// A job of account `a` in a state, with nothing remarkable about it.
pub(crate) fn job(state: JobState) -> JobRecord {
    JobRecord {
        id: job_id(0),
        kind: "fetch".parse().expect("a name"),
        account: account("a"),
        run: None,
        class: Class::Normal,
        seq: 1,
        needs: Needs::none(),
        state,
        run_at: NOW,
        attempts: 0,
        attempts_max: 8,
        snoozes: 0,
        lease: None,
        checkpoint: None,
        progress: Progress::default(),
        error: None,
        unique_key: None,
        created_at: NOW,
        started_at: None,
        finished_at: None,
    }
}

pub(crate) fn account(name: &str) -> AccountId {
    name.parse().expect("a name")
}

/// Tokens of several groups.
pub(crate) fn needs(costs: &[(&str, u32)]) -> Needs {
    Needs::new(costs.iter().map(|(group, tokens)| Need {
        group: group.parse().expect("a name"),
        cost: Cost::new(*tokens).expect("at least 1"),
    }))
}

/// A limit with a full bucket.
pub(crate) fn limit(bucket: &str, policy: &str) -> LimitView {
    LimitView {
        bucket: bucket.parse().expect("a bucket"),
        policy: policy.parse().expect("a limit"),
        state: None,
        paused: None,
        waiting: 0,
        running: 0,
    }
}
