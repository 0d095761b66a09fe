-- next_parked: when the first parked lane is ready.
-- Returns one row or none: ready_at.
SELECT ready_at
FROM lanes INDEXED BY lanes_parked
WHERE place = 'parked'
ORDER BY ready_at
LIMIT 1
