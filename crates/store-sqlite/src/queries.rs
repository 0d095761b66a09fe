//! The SQL: one file for each verb, named like the method that asks it. Each file says what it
//! takes and returns.

macro_rules! queries {
    ($($name:ident = $file:literal;)*) => {
        $(pub(crate) const $name: &str = include_str!(concat!("queries/", $file, ".sql"));)*

        /// Every query by the name of its file, for checks that prepare them all.
        pub const ALL: &[(&str, &str)] = &[$(($file, $name)),*];
    };
}

queries! {
    ACCOUNT = "account";
    ACCOUNTS = "accounts";
    ALL_JOBS = "all_jobs";
    ARGS = "args";
    BUCKET = "bucket";
    BUCKETS = "buckets";
    COUNT_PRUNED = "count_pruned";
    COUNTERS = "counters";
    DELAYED = "delayed";
    DELAYED_UNTIL = "delayed_until";
    INSERT_ARGS = "insert_args";
    INSERT_JOB = "insert_job";
    JOB = "job";
    JOB_COUNTS = "job_counts";
    JOB_COUNTS_OF_RUN = "job_counts_of_run";
    JOBS = "jobs";
    JOBS_OF_ACCOUNT = "jobs_of_account";
    JOBS_OF_RUN = "jobs_of_run";
    JOBS_OF_STATE = "jobs_of_state";
    LANE = "lane";
    LANE_HEAD = "lane_head";
    LANES = "lanes";
    LANES_OF = "lanes_of";
    LEASED = "leased";
    LEASED_AS = "leased_as";
    LEASED_UNTIL = "leased_until";
    LIMIT = "limit";
    LIMITS = "limits";
    LIMITS_OF = "limits_of";
    LIVE_JOB_WITH_KEY = "live_job_with_key";
    NEXT_DELAYED = "next_delayed";
    NEXT_PARKED = "next_parked";
    NEXT_SEQ = "next_seq";
    PARKED_UNTIL = "parked_until";
    POSITION = "position";
    PRUNE = "prune";
    PUT_ACCOUNT = "put_account";
    PUT_BUCKET = "put_bucket";
    PUT_LANE = "put_lane";
    PUT_LIMIT = "put_limit";
    PUT_RUN = "put_run";
    READY = "ready";
    REMOVE_LANE = "remove_lane";
    RUNNING = "running";
    RUNS = "runs";
    UPDATE_JOB = "update_job";
    WAIT_LISTS = "wait_lists";
    WAITING = "waiting";
    WAITING_OF = "waiting_of";
}
