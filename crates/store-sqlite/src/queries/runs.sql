-- runs: every run, oldest first (ids sort by the time they were made).
-- Returns rows: id, name, started_at.
SELECT id, name, started_at
FROM runs
ORDER BY id
