-- next_seq: counts a job, and takes the next number in the order of arrival.
-- Returns one row: seq.
UPDATE counters
SET value = value + 1
WHERE name = 'enqueued'
RETURNING value - 1 AS seq
