-- scan: keys and versions of one dataset in the byte order of the keys, a page at a time.
--   :account, :dataset
--   :after  the last key of the page before; '' for the first page (no key is empty)
--   :limit  rows at most
-- Returns rows: natural_key, version.
SELECT natural_key, version
FROM landing
WHERE account = :account AND dataset = :dataset AND natural_key > :after
ORDER BY natural_key
LIMIT :limit
