-- leased_until: running jobs whose lease ends at a moment or earlier, earliest first, then by id.
--   :until  ms since the Unix epoch
--   :limit  jobs at most
-- Returns rows: the columns of a job.
SELECT
    seq, id, kind, account, groups, costs, class, run, state, run_at, attempts, attempts_max,
    snoozes, lease_token, lease_worker, lease_expires_at, requests_done, requests_total,
    rows_landed, created_at, started_at, finished_at, unique_key, error, checkpoint
FROM jobs INDEXED BY jobs_leased
WHERE state = 'running' AND lease_expires_at <= :until
ORDER BY lease_expires_at, id
LIMIT :limit
