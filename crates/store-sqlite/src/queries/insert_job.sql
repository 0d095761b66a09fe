-- insert_job, first half: adds a job.
--   each column of `jobs` under its name
INSERT INTO jobs (
    seq, id, kind, account, groups, costs, class, run, state, run_at, attempts, attempts_max,
    snoozes, lease_token, lease_worker, lease_expires_at, requests_done, requests_total,
    rows_landed, created_at, started_at, finished_at, unique_key, error, checkpoint
)
VALUES (
    :seq, :id, :kind, :account, :groups, :costs, :class, :run, :state, :run_at, :attempts,
    :attempts_max, :snoozes, :lease_token, :lease_worker, :lease_expires_at, :requests_done,
    :requests_total, :rows_landed, :created_at, :started_at, :finished_at, :unique_key, :error,
    :checkpoint
)
