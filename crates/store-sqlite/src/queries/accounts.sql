-- accounts: every account, by id.
-- Returns rows:
--   id, name, upstream, added_at, token_expires_at, token_family, categories, paused.
SELECT id, name, upstream, added_at, token_expires_at, token_family, categories, paused
FROM accounts
ORDER BY id
