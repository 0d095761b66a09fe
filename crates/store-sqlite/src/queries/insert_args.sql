-- insert_job, second half: adds its arguments.
--   :seq   the job's
--   :args  JSON text
INSERT INTO args (seq, args)
VALUES (:seq, :args)
