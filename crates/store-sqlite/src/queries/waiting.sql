-- limits: how many jobs wait in each lane.
-- Returns rows: account, groups, jobs.
SELECT account, groups, waiting AS jobs
FROM lanes
