-- account: one account.
--   :id
-- Returns one row or none:
--   id, name, upstream, added_at, token_expires_at, token_family, categories, paused.
SELECT id, name, upstream, added_at, token_expires_at, token_family, categories, paused
FROM accounts
WHERE id = :id
