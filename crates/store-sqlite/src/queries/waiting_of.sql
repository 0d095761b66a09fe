-- limits, of one account: how many jobs wait in each of its lanes.
--   :account
-- Returns rows: account, groups, jobs.
SELECT account, groups, waiting AS jobs
FROM lanes
WHERE account = :account
