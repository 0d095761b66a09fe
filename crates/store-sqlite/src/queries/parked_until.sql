-- parked_until: lanes that are parked until a moment or less, earliest first, then by key.
--   :now    ms since the Unix epoch
--   :limit  lanes at most
-- Returns rows: account, groups.
SELECT account, groups
FROM lanes INDEXED BY lanes_parked
WHERE place = 'parked' AND ready_at <= :now
ORDER BY ready_at, account, groups
LIMIT :limit
