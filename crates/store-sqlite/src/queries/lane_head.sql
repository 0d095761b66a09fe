-- lane_head: the first of the jobs that wait in a lane.
--   :account, :groups  which lane
-- Returns one row or none: the columns of a job.
SELECT
    seq, id, kind, account, groups, costs, class, run, state, run_at, attempts, attempts_max,
    snoozes, lease_token, lease_worker, lease_expires_at, requests_done, requests_total,
    rows_landed, created_at, started_at, finished_at, unique_key, error, checkpoint
FROM jobs INDEXED BY jobs_waiting
WHERE state = 'waiting' AND account = :account AND groups = :groups
ORDER BY class, seq
LIMIT 1
