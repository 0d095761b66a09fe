-- audit: every scheduled or retryable job, earliest first.
-- Returns rows: at, id.
SELECT run_at AS at, id
FROM jobs INDEXED BY jobs_delayed
WHERE state IN ('scheduled', 'retryable')
ORDER BY run_at, id
