-- count: how many rows one account has in one dataset. One statement, so both numbers are of the
-- same moment.
--   :account, :dataset
-- Returns one row: rows, quarantined.
SELECT
    (SELECT count(*) FROM landing WHERE account = :account AND dataset = :dataset) AS rows,
    (SELECT count(*) FROM quarantine WHERE account = :account AND dataset = :dataset)
        AS quarantined
