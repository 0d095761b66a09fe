-- Limits that are paused, and what is known of an account's token.

ALTER TABLE limits ADD COLUMN paused TEXT;  -- why nothing may draw on it, if nothing may

ALTER TABLE accounts ADD COLUMN token_family TEXT;

ALTER TABLE accounts ADD COLUMN categories TEXT;  -- what the token opens: a JSON array of texts
