-- accounts: every account, by id.
-- Returns rows: id, name, upstream, added_at, token_expires_at, paused.
SELECT id, name, upstream, added_at, token_expires_at, paused
FROM accounts
ORDER BY id
