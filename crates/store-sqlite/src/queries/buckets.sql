-- audit: every stored bucket.
-- Returns rows:
--   t, ts, iv, hold, slower, proven, streak, refusals, refused_at, account, limit_group.
SELECT t, ts, iv, hold, slower, proven, streak, refusals, refused_at, account, limit_group
FROM buckets
ORDER BY account, limit_group
