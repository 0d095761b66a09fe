-- audit: every running job, by the end of its lease.
-- Returns rows: at, id.
SELECT lease_expires_at AS at, id
FROM jobs INDEXED BY jobs_leased
WHERE state = 'running'
ORDER BY lease_expires_at, id
