-- limit: what a bucket allows.
--   :account, :limit_group  which bucket
-- Returns one row or none: tokens, interval_ms, burst, margin_ms.
SELECT tokens, interval_ms, burst, margin_ms
FROM limits
WHERE account = :account AND limit_group = :limit_group
