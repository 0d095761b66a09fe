-- live_job_with_key: the job that has not ended and has this unique key.
--   :unique_key
-- Returns one row or none: id.
SELECT id
FROM jobs INDEXED BY jobs_unique_key
WHERE unique_key = :unique_key AND unique_key IS NOT NULL
  AND state IN ('scheduled', 'waiting', 'running', 'retryable')
