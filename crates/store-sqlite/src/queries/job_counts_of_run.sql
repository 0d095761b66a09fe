-- job_counts, of one run.
--   :run
-- Returns rows: state, jobs.
SELECT state, count(*) AS jobs
FROM jobs INDEXED BY jobs_run
WHERE run = :run AND run IS NOT NULL
GROUP BY state
