-- land, first half: stores a row whose key is new, leaves a known key alone.
--   :account, :dataset, :natural_key  whose row, of which dataset, under which key
--   :version     opaque sortable text
--   :fetched_at  ms since the Unix epoch
--   :body        JSON text
-- Changes 1 row: the key was new. 0 rows: the key is known, `land_update.sql` decides.
INSERT INTO landing (account, dataset, natural_key, version, fetched_at, body)
VALUES (:account, :dataset, :natural_key, :version, :fetched_at, :body)
ON CONFLICT (account, dataset, natural_key) DO NOTHING
