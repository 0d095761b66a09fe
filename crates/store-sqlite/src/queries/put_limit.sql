-- put_limit: sets what a bucket allows.
--   :account, :limit_group  which bucket
--   :tokens, :interval_ms, :burst, :margin_ms
--   :paused  why, or NULL
INSERT INTO limits (account, limit_group, tokens, interval_ms, burst, margin_ms, paused)
VALUES (:account, :limit_group, :tokens, :interval_ms, :burst, :margin_ms, :paused)
ON CONFLICT (account, limit_group) DO UPDATE
SET tokens = excluded.tokens, interval_ms = excluded.interval_ms, burst = excluded.burst,
    margin_ms = excluded.margin_ms, paused = excluded.paused
