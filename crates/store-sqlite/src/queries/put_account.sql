-- put_account: adds or replaces an account.
--   :id, :name, :upstream
--   :added_at          ms since the Unix epoch
--   :token_expires_at  ms since the Unix epoch, or NULL
--   :token_family      text, or NULL
--   :categories        a JSON array of texts, or NULL
--   :paused            why, or NULL
INSERT INTO accounts (
    id, name, upstream, added_at, token_expires_at, token_family, categories, paused
)
VALUES (
    :id, :name, :upstream, :added_at, :token_expires_at, :token_family, :categories, :paused
)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, upstream = excluded.upstream, added_at = excluded.added_at,
    token_expires_at = excluded.token_expires_at, token_family = excluded.token_family,
    categories = excluded.categories, paused = excluded.paused
