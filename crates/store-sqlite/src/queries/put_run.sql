-- put_run: adds or replaces a run.
--   :id, :name
--   :started_at  ms since the Unix epoch
INSERT INTO runs (id, name, started_at)
VALUES (:id, :name, :started_at)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, started_at = excluded.started_at
