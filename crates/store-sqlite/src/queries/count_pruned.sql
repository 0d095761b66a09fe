-- prune, second half: counts what was removed.
--   :name   the state
--   :count  jobs
UPDATE counters
SET value = value + :count
WHERE name = :name
