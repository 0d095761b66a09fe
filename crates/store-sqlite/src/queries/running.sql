-- limits: what each running job drew on with its last permit. There are as many as slots.
-- Returns rows: account, groups, jobs.
SELECT account, groups, 1 AS jobs
FROM jobs INDEXED BY jobs_leased
WHERE state = 'running'
