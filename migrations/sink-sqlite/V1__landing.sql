-- Where fetched upstream rows land, and where rows without a key are kept for a person to look at.
--
-- Moments are whole milliseconds since the Unix epoch, UTC. TEXT is compared byte by byte (BINARY),
-- which for UTF-8 is the order of Rust's `str`.

-- One row for each upstream row, in the newest version that was seen.
--
-- A rowid table on purpose: bodies are appended in the order they arrive, and only the slim index
-- of the primary key is written at random places. Counting reads that index alone.
CREATE TABLE landing (
    account     TEXT    NOT NULL,
    dataset     TEXT    NOT NULL,
    natural_key TEXT    NOT NULL CHECK (natural_key <> ''),
    version     TEXT    NOT NULL,  -- opaque, sortable; given by the connector
    fetched_at  INTEGER NOT NULL,  -- when the upstream answered with this version and body
    body        TEXT    NOT NULL,  -- JSON, byte for byte as the upstream sent it
    PRIMARY KEY (account, dataset, natural_key)
) STRICT;

-- What could not be keyed. The body is part of the key, so the same body is kept once, without a
-- hash that could collide. WITHOUT ROWID stores that body once instead of in a table and an index.
CREATE TABLE quarantine (
    account    TEXT    NOT NULL,
    dataset    TEXT    NOT NULL,
    body       TEXT    NOT NULL,   -- as the upstream sent it; need not be JSON
    reason     TEXT    NOT NULL,   -- why it could not be keyed, in words, when it was first seen
    fetched_at INTEGER NOT NULL,   -- when it was first seen
    PRIMARY KEY (account, dataset, body)
) STRICT, WITHOUT ROWID;
