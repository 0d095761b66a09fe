-- lanes_of, lanes_on: the lanes of an account, by key. An account has few: whoever wants those of
-- one limit group picks them.
--   :account
-- Returns rows: account, groups.
SELECT account, groups
FROM lanes
WHERE account = :account
ORDER BY groups
