-- audit: every wait list in its order, lane by lane.
-- Returns rows: account, groups, class, seq, id.
SELECT account, groups, class, seq, id
FROM jobs INDEXED BY jobs_waiting
WHERE state = 'waiting'
ORDER BY account, groups, class, seq
