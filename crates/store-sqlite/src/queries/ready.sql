-- ready: ready lanes by rank, then by key. The caller stops reading when it has enough: how many
-- rows belong to accounts of no interest is known only then.
-- Returns rows: account, groups, class, full_at, token_ms, time_to_full_ms.
SELECT account, groups, class, full_at, token_ms, time_to_full_ms
FROM lanes INDEXED BY lanes_ready
WHERE place = 'ready'
ORDER BY class, full_at, token_ms DESC, time_to_full_ms, account, groups
