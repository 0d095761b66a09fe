-- counts: the same for every account and dataset that has any row, in that order.
-- Returns rows: account, dataset, rows, quarantined.
SELECT account, dataset, sum(rows) AS rows, sum(quarantined) AS quarantined
FROM (
    SELECT account, dataset, count(*) AS rows, 0 AS quarantined
    FROM landing GROUP BY account, dataset
    UNION ALL
    SELECT account, dataset, 0 AS rows, count(*) AS quarantined
    FROM quarantine GROUP BY account, dataset
)
GROUP BY account, dataset
ORDER BY account, dataset
