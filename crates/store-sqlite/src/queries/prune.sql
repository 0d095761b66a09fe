-- prune: removes jobs that ended before a moment, oldest end first. Their arguments go with them.
--   :ended_before  ms since the Unix epoch
--   :limit         jobs at most
-- Returns a row for each: state.
DELETE FROM jobs
WHERE seq IN (
    SELECT seq
    FROM jobs INDEXED BY jobs_ended
    WHERE state IN ('succeeded', 'cancelled', 'dead') AND finished_at < :ended_before
    ORDER BY finished_at, id
    LIMIT :limit
)
RETURNING state
