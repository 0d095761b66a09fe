-- position: how many jobs wait in a lane before a place in its wait list.
--   :account, :groups  which lane
--   :class, :seq       the place
-- Returns one row: jobs.
SELECT count(*) AS jobs
FROM jobs INDEXED BY jobs_waiting
WHERE state = 'waiting' AND account = :account AND groups = :groups
  AND (class, seq) < (:class, :seq)
