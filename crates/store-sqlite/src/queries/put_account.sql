-- put_account: adds or replaces an account.
--   :id, :name, :upstream
--   :added_at          ms since the Unix epoch
--   :token_expires_at  ms since the Unix epoch, or NULL
--   :paused            why, or NULL
INSERT INTO accounts (id, name, upstream, added_at, token_expires_at, paused)
VALUES (:id, :name, :upstream, :added_at, :token_expires_at, :paused)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, upstream = excluded.upstream, added_at = excluded.added_at,
    token_expires_at = excluded.token_expires_at, paused = excluded.paused
