-- quarantine: keeps a body that could not be keyed, once for each account and dataset.
--   :account, :dataset  whose row, of which dataset
--   :body        as the upstream sent it
--   :reason      why it could not be keyed
--   :fetched_at  ms since the Unix epoch
-- Changes 1 row: the body is new. 0 rows: it is known, with the reason it was first given.
INSERT INTO quarantine (account, dataset, body, reason, fetched_at)
VALUES (:account, :dataset, :body, :reason, :fetched_at)
ON CONFLICT (account, dataset, body) DO NOTHING
