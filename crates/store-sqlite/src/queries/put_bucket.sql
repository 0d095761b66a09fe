-- put_bucket: stores the state of a bucket.
--   :account, :limit_group  which bucket
--   :t     level in units
--   :ts    ms since the Unix epoch
--   :iv    units of one token
--   :hold  ms since the Unix epoch, or NULL
INSERT INTO buckets (account, limit_group, t, ts, iv, hold)
VALUES (:account, :limit_group, :t, :ts, :iv, :hold)
ON CONFLICT (account, limit_group) DO UPDATE
SET t = excluded.t, ts = excluded.ts, iv = excluded.iv, hold = excluded.hold
