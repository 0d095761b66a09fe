-- args: the arguments of one job.
--   :id
-- Returns one row or none: args.
SELECT args.args
FROM jobs INDEXED BY jobs_id
JOIN args ON args.seq = jobs.seq
WHERE jobs.id = :id
