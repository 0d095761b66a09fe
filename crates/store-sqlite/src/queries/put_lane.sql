-- put_lane: stores a lane in which somebody waits.
--   :account, :groups  which lane
--   :waiting           jobs in its wait list
--   :place             'paused', 'parked' or 'ready'
--   :ready_at          ms since the Unix epoch, or NULL unless parked
--   :class, :full_at, :token_ms, :time_to_full_ms  its rank, or NULL unless ready
INSERT INTO lanes (account, groups, waiting, place, ready_at, class, full_at, token_ms,
    time_to_full_ms)
VALUES (:account, :groups, :waiting, :place, :ready_at, :class, :full_at, :token_ms,
    :time_to_full_ms)
ON CONFLICT (account, groups) DO UPDATE
SET waiting = excluded.waiting, place = excluded.place, ready_at = excluded.ready_at,
    class = excluded.class, full_at = excluded.full_at, token_ms = excluded.token_ms,
    time_to_full_ms = excluded.time_to_full_ms
