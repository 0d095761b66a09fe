-- put_lane, where the lane is empty now.
--   :account, :groups  which lane
DELETE FROM lanes
WHERE account = :account AND groups = :groups
