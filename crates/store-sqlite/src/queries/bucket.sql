-- bucket: the stored state of a bucket.
--   :account, :limit_group  which bucket
-- Returns one row or none (a full bucket):
--   t, ts, iv, hold, slower, proven, streak, refusals, refused_at.
SELECT t, ts, iv, hold, slower, proven, streak, refusals, refused_at
FROM buckets
WHERE account = :account AND limit_group = :limit_group
