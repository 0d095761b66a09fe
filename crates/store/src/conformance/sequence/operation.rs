//! What may happen. Numbers name things that the sequence itself brings about: the fifth of the
//! leases given so far, a bucket of the nine there are.

/// One operation, at a moment after (or, where clocks step back, before) the one before it.
#[derive(Debug, Clone)]
pub struct Operation {
    pub(super) advance: Advance,
    pub(super) what: What,
}

/// How the clock has moved before it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Advance {
    /// By so many milliseconds.
    By(i64),
    /// To the moment that was last named as due, or a millisecond beside it.
    ToDue(i64),
}

#[derive(Debug, Clone)]
pub(super) enum What {
    SetLimits(Vec<(BucketIndex, u8)>),
    PutAccount {
        account: u8,
        named: u8,
        paused: bool,
    },
    Pause {
        account: u8,
        reason: Option<u8>,
    },
    PauseLimits {
        account: u8,
        groups: Option<Vec<u8>>,
        reason: Option<u8>,
    },
    PutRun {
        run: u8,
        named: u8,
    },
    Enqueue(Vec<JobSpec>),
    Due {
        limit: usize,
        only: Option<Vec<u8>>,
        except: Vec<u8>,
    },
    Claim(Vec<PickSpec>),
    Acquire {
        lease: LeaseSpec,
        needs: NeedsSpec,
        park: bool,
        saved: SavedSpec,
    },
    Renew(Vec<(LeaseSpec, i64, SavedSpec)>),
    Settle(Vec<(LeaseSpec, OutcomeSpec, SavedSpec)>),
    Reap {
        all: bool,
        limit: usize,
    },
    Prune {
        before_ms: i64,
        limit: usize,
    },
    /// So many times: a pace is tried out over many answers.
    Feedback {
        bucket: BucketIndex,
        feedback: FeedbackSpec,
        times: u8,
    },
    Take(Vec<(BucketIndex, u32)>),
    Read(Reading),
}

/// One of the nine buckets.
pub(super) type BucketIndex = u8;

/// Limit groups and tokens.
pub(super) type NeedsSpec = Vec<(u8, u32)>;

#[derive(Debug, Clone)]
pub(super) struct JobSpec {
    /// An id that was used before, instead of a new one.
    pub(super) again: Option<u16>,
    pub(super) account: u8,
    pub(super) needs: NeedsSpec,
    pub(super) class: u8,
    pub(super) delay_ms: i64,
    pub(super) attempts_max: u32,
    pub(super) unique_key: Option<u8>,
    pub(super) run: Option<u8>,
    pub(super) args: u8,
}

#[derive(Debug, Clone)]
pub(super) enum LaneSpec {
    /// One of those that were due when last asked.
    Due(u8),
    /// One of those in which a job was enqueued, counted from the last.
    Used(u8),
    /// Any.
    Any { account: u8, groups: Vec<u8> },
}

#[derive(Debug, Clone)]
pub(super) struct PickSpec {
    pub(super) lane: LaneSpec,
    /// A lease that was used before, instead of a new one.
    pub(super) again: Option<u16>,
}

#[derive(Debug, Clone)]
pub(super) enum LeaseSpec {
    /// One of those given so far, counted from the last. It may be over.
    Given(u16),
    /// The job of one with the token of another.
    Mixed(u16, u16),
    /// None that was ever given.
    Never,
}

#[derive(Debug, Clone)]
pub(super) struct SavedSpec {
    pub(super) checkpoint: Option<u8>,
    pub(super) progress: Option<u64>,
    /// With how many milliseconds ago they were taken.
    pub(super) unspent: Vec<(NeedsSpec, u32)>,
}

#[derive(Debug, Clone)]
pub(super) enum OutcomeSpec {
    Done,
    Snooze(i64),
    Retry(i64),
    Cancel,
    Dead,
    Pause { groups: Vec<u8>, reason: u8 },
    HandBack,
}

#[derive(Debug, Clone)]
pub(super) enum FeedbackSpec {
    Accepted { remaining: Option<u32>, in_flight: u32, sent_ms_ago: i64 },
    Rejected { for_ms: Option<i64>, refund: Option<u32>, sent_ms_ago: i64 },
    Charged(u32),
    Late(u64),
    Released,
}

#[derive(Debug, Clone)]
pub(super) enum Reading {
    Job(u16),
    Jobs(FilterSpec),
    Counts(Option<u8>),
    Position(u16),
    Lane(LaneSpec),
    Limits(Option<u8>),
    Accounts,
    Runs,
}

#[derive(Debug, Clone)]
pub(super) struct FilterSpec {
    pub(super) state: Option<u8>,
    pub(super) account: Option<u8>,
    pub(super) kind: Option<u8>,
    pub(super) run: Option<u8>,
    /// The beginning of this job's id, of this length.
    pub(super) prefix: Option<(u16, usize)>,
    pub(super) after: Option<u16>,
    pub(super) limit: usize,
}
