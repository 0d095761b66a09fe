-- limit: what a bucket allows.
--   :account, :limit_group  which bucket
-- Returns one row or none: tokens, interval_ms, burst, margin_ms, paused.
SELECT tokens, interval_ms, burst, margin_ms, paused
FROM limits
WHERE account = :account AND limit_group = :limit_group
