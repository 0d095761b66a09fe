-- The queue: jobs, the lanes in which they wait, the buckets that they draw on.
--
-- Moments are whole milliseconds since the Unix epoch, UTC. Ids are UUIDs in their 16 bytes, which
-- sort as the ids do. TEXT is compared byte by byte (BINARY), as names are in Rust.
--
-- A lane is named by an account and the limit groups that its jobs need, in order and joined by
-- '+'. These are two columns and not one text `account/groups`: '/' sorts after '-' and '.', so the
-- joined text of account `a` would sort after that of `a-b`. Groups may be joined, because '+'
-- sorts before every character of a name.

-- Every job that was not pruned, without its arguments. The wide columns come last: a row that
-- does not fit its page is then read without its rest by whoever needs only its head.
CREATE TABLE jobs (
    seq              INTEGER PRIMARY KEY,  -- order of arrival, from 0
    id               BLOB    NOT NULL,
    kind             TEXT    NOT NULL,
    account          TEXT    NOT NULL,
    groups           TEXT    NOT NULL,     -- limit groups of its needs, joined by '+'
    costs            TEXT    NOT NULL,     -- tokens from each of them, joined by '+'
    class            INTEGER NOT NULL,     -- 0 interactive, 1 normal, 2 bulk
    run              BLOB,
    state            TEXT    NOT NULL,
    run_at           INTEGER NOT NULL,
    attempts         INTEGER NOT NULL,
    attempts_max     INTEGER NOT NULL,
    snoozes          INTEGER NOT NULL,
    lease_token      BLOB,                 -- all three while 'running'
    lease_worker     TEXT,
    lease_expires_at INTEGER,
    requests_done    INTEGER NOT NULL,     -- unsigned, in the same 64 bits
    requests_total   INTEGER,              -- unsigned, in the same 64 bits
    rows_landed      INTEGER NOT NULL,     -- unsigned, in the same 64 bits
    created_at       INTEGER NOT NULL,
    started_at       INTEGER,
    finished_at      INTEGER,              -- while 'succeeded', 'cancelled' or 'dead'
    unique_key       TEXT,
    error            TEXT,
    checkpoint       TEXT                  -- JSON
) STRICT;

CREATE UNIQUE INDEX jobs_id ON jobs (id);

-- The wait list of each lane.
CREATE INDEX jobs_waiting ON jobs (account, groups, class, seq) WHERE state = 'waiting';

CREATE INDEX jobs_delayed ON jobs (run_at, id) WHERE state IN ('scheduled', 'retryable');

CREATE INDEX jobs_leased ON jobs (lease_expires_at, id) WHERE state = 'running';

CREATE UNIQUE INDEX jobs_lease_token ON jobs (lease_token) WHERE state = 'running';

CREATE INDEX jobs_ended ON jobs (finished_at, id)
WHERE state IN ('succeeded', 'cancelled', 'dead');

CREATE UNIQUE INDEX jobs_unique_key ON jobs (unique_key)
WHERE unique_key IS NOT NULL AND state IN ('scheduled', 'waiting', 'running', 'retryable');

-- For people who list jobs, in pages by id.
CREATE INDEX jobs_state ON jobs (state, id);

CREATE INDEX jobs_account ON jobs (account, id);

CREATE INDEX jobs_run ON jobs (run, id, state) WHERE run IS NOT NULL;

-- The arguments, which may be large and never change.
CREATE TABLE args (
    seq  INTEGER PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
    args TEXT    NOT NULL  -- JSON, byte for byte as it was enqueued
) STRICT;

-- Lanes in which somebody waits.
CREATE TABLE lanes (
    account         TEXT    NOT NULL,
    groups          TEXT    NOT NULL,
    waiting         INTEGER NOT NULL,  -- jobs in its wait list
    place           TEXT    NOT NULL,  -- 'paused', 'parked' or 'ready'
    ready_at        INTEGER,           -- while 'parked'
    class           INTEGER,           -- its rank, all three while 'ready'
    full_at         INTEGER,
    time_to_full_ms INTEGER,
    PRIMARY KEY (account, groups)
) STRICT, WITHOUT ROWID;

CREATE INDEX lanes_parked ON lanes (ready_at, account, groups) WHERE place = 'parked';

CREATE INDEX lanes_ready ON lanes (class, full_at, time_to_full_ms, account, groups)
WHERE place = 'ready';

-- What each bucket allows: `tokens` per `interval_ms`, up to `burst` at once.
CREATE TABLE limits (
    account     TEXT    NOT NULL,
    limit_group TEXT    NOT NULL,
    tokens      INTEGER NOT NULL,
    interval_ms INTEGER NOT NULL,
    burst       INTEGER NOT NULL,
    margin_ms   INTEGER NOT NULL,
    PRIMARY KEY (account, limit_group)
) STRICT, WITHOUT ROWID;

-- Buckets that were drawn on; one that is not here is full.
CREATE TABLE buckets (
    account     TEXT    NOT NULL,
    limit_group TEXT    NOT NULL,
    t           INTEGER NOT NULL,  -- level in units of one token / iv; below 0 while in debt
    ts          INTEGER NOT NULL,  -- the moment up to which t is refilled
    iv          INTEGER NOT NULL,  -- units of one token when t was written
    hold        INTEGER,           -- closed until then
    PRIMARY KEY (account, limit_group)
) STRICT, WITHOUT ROWID;

CREATE TABLE accounts (
    id               TEXT    NOT NULL PRIMARY KEY,
    name             TEXT    NOT NULL,
    upstream         TEXT    NOT NULL,
    added_at         INTEGER NOT NULL,
    token_expires_at INTEGER,
    paused           TEXT               -- why its lanes are paused, if they are
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    id         BLOB    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Jobs ever enqueued, which is also the next `seq`, and jobs pruned by the state they had ended in.
CREATE TABLE counters (
    name  TEXT    NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO counters (name, value)
VALUES ('enqueued', 0), ('succeeded', 0), ('cancelled', 0), ('dead', 0);
