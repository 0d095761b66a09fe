-- lane: one lane.
--   :account, :groups  which lane
-- Returns one row or none (an empty lane):
--   waiting, place, ready_at, class, full_at, token_ms, time_to_full_ms.
SELECT waiting, place, ready_at, class, full_at, token_ms, time_to_full_ms
FROM lanes
WHERE account = :account AND groups = :groups
