-- jobs, of one account.
--   :after, :last      ids: after the one, up to and with the other
--   :state, :account, :kind, :run  what must match, or NULL
--   :limit             jobs at most
-- Returns rows: the columns of a job.
SELECT
    seq, id, kind, account, groups, costs, class, run, state, run_at, attempts, attempts_max,
    snoozes, lease_token, lease_worker, lease_expires_at, requests_done, requests_total,
    rows_landed, created_at, started_at, finished_at, unique_key, error, checkpoint
FROM jobs INDEXED BY jobs_account
WHERE account = :account AND id > :after AND id <= :last
  AND (:state IS NULL OR state = :state)
  AND (:kind IS NULL OR kind = :kind)
  AND (:run IS NULL OR run = :run)
ORDER BY id
LIMIT :limit
