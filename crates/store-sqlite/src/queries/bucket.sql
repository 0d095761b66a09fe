-- bucket: the stored state of a bucket.
--   :account, :limit_group  which bucket
-- Returns one row or none (a full bucket): t, ts, iv, hold.
SELECT t, ts, iv, hold
FROM buckets
WHERE account = :account AND limit_group = :limit_group
