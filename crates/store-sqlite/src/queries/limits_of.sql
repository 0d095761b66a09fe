-- limits, of one account.
--   :account
-- Returns rows as `limits` does.
SELECT
    limits.account, limits.limit_group, tokens, interval_ms, burst, margin_ms, paused,
    t, ts, iv, hold, slower, proven, streak, refusals, refused_at
FROM limits
LEFT JOIN buckets
    ON buckets.account = limits.account AND buckets.limit_group = limits.limit_group
WHERE limits.account = :account
ORDER BY limits.limit_group
