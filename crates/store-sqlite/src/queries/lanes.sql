-- audit: every lane, by key.
-- Returns rows: waiting, place, ready_at, class, full_at, token_ms, time_to_full_ms, account, groups.
SELECT waiting, place, ready_at, class, full_at, token_ms, time_to_full_ms, account, groups
FROM lanes
ORDER BY account, groups
