-- What refusals have taught of how fast a bucket may really go: all five, or none.

ALTER TABLE buckets ADD COLUMN slower INTEGER;  -- permille by which its interval is longer

ALTER TABLE buckets ADD COLUMN proven INTEGER;  -- permille to which a refusal returns, or 0

ALTER TABLE buckets ADD COLUMN streak INTEGER;  -- accepted answers since the last refusal

ALTER TABLE buckets ADD COLUMN refusals INTEGER;  -- refusals in a row

ALTER TABLE buckets ADD COLUMN refused_at INTEGER;  -- when the last one that counted was heard of
