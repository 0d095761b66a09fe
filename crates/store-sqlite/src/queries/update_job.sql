-- update_job: replaces what can change of a job.
--   :seq  which job
--   each of these columns under its name
UPDATE jobs
SET groups = :groups, costs = :costs, state = :state, run_at = :run_at, attempts = :attempts,
    snoozes = :snoozes, lease_token = :lease_token, lease_worker = :lease_worker,
    lease_expires_at = :lease_expires_at, requests_done = :requests_done,
    requests_total = :requests_total, rows_landed = :rows_landed, started_at = :started_at,
    finished_at = :finished_at, error = :error, checkpoint = :checkpoint
WHERE seq = :seq
