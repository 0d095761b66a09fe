-- limits: every limit with its bucket, in order of buckets.
-- Returns rows:
--   account, limit_group, tokens, interval_ms, burst, margin_ms, paused,
--   t, ts, iv, hold, slower, proven, streak, refusals, refused_at;
--   those of the bucket are NULL for a full one.
SELECT
    limits.account, limits.limit_group, tokens, interval_ms, burst, margin_ms, paused,
    t, ts, iv, hold, slower, proven, streak, refusals, refused_at
FROM limits
LEFT JOIN buckets
    ON buckets.account = limits.account AND buckets.limit_group = limits.limit_group
ORDER BY limits.account, limits.limit_group
