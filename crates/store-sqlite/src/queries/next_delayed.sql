-- next_delayed: when the first scheduled or retryable job is due.
-- Returns one row or none: run_at.
SELECT run_at
FROM jobs INDEXED BY jobs_delayed
WHERE state IN ('scheduled', 'retryable')
ORDER BY run_at
LIMIT 1
