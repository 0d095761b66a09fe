-- audit: every counter.
-- Returns rows: name, value.
SELECT name, value
FROM counters
