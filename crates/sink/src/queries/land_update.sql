-- land, second half: replaces a known row by one that is newer, or as new with another body.
--   :account, :dataset, :natural_key  whose row, of which dataset, under which key
--   :version     opaque sortable text
--   :fetched_at  ms since the Unix epoch
--   :body        JSON text
-- Changes 1 row: replaced. 0 rows: the stored row is newer or the very same, and keeps its
-- fetched_at, so that landing a page again writes nothing at all.
UPDATE landing
SET version = :version, fetched_at = :fetched_at, body = :body
WHERE account = :account AND dataset = :dataset AND natural_key = :natural_key
  AND (version < :version OR (version = :version AND body <> :body))
