-- put_bucket: stores the state of a bucket.
--   :account, :limit_group  which bucket
--   :t     level in units
--   :ts    ms since the Unix epoch
--   :iv    units of one token
--   :hold  ms since the Unix epoch, or NULL
--   :slower, :proven (permille), :streak, :refusals, :refused_at (ms since the Unix epoch)
--          its pace, or all NULL
INSERT INTO buckets (
    account, limit_group, t, ts, iv, hold, slower, proven, streak, refusals, refused_at
)
VALUES (
    :account, :limit_group, :t, :ts, :iv, :hold, :slower, :proven, :streak, :refusals, :refused_at
)
ON CONFLICT (account, limit_group) DO UPDATE
SET t = excluded.t, ts = excluded.ts, iv = excluded.iv, hold = excluded.hold,
    slower = excluded.slower, proven = excluded.proven, streak = excluded.streak,
    refusals = excluded.refusals, refused_at = excluded.refused_at
