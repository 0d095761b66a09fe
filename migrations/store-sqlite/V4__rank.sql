-- The rank of a ready lane has one number more: of full buckets the one whose tokens are rarest comes
-- first. Lanes that are ready now get it when they are next looked at.

ALTER TABLE lanes ADD COLUMN token_ms INTEGER;  -- time for one token of that bucket, while 'ready'

UPDATE lanes SET token_ms = 0 WHERE place = 'ready';

DROP INDEX lanes_ready;

CREATE INDEX lanes_ready ON lanes (class, full_at, token_ms DESC, time_to_full_ms, account, groups)
WHERE place = 'ready';
