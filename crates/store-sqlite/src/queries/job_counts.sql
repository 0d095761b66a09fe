-- job_counts: how many jobs are in each state.
-- Returns rows: state, jobs.
SELECT state, count(*) AS jobs
FROM jobs INDEXED BY jobs_state
GROUP BY state
