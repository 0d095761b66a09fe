-- account: one account.
--   :id
-- Returns one row or none: id, name, upstream, added_at, token_expires_at, paused.
SELECT id, name, upstream, added_at, token_expires_at, paused
FROM accounts
WHERE id = :id
