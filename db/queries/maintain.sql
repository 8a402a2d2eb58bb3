-- name: UnfoldedSpans :many
-- Commits of each partition that the hours do not hold yet, no more than a bound at once.
SELECT c.log, c.partition, coalesce(f.commits, 0)::bigint AS above,
       least(c.commits, coalesce(f.commits, 0) + @bound::bigint)::bigint AS through
  FROM checkpoint c
  LEFT JOIN rollup_fold f ON f.log = c.log AND f.partition = c.partition
 WHERE c.consumer = @consumer AND c.commits > coalesce(f.commits, 0)
 ORDER BY c.log, c.partition;

-- name: StoreFold :exec
INSERT INTO rollup_fold (log, partition, commits) VALUES (@log, @partition, @commits)
ON CONFLICT (log, partition) DO UPDATE SET commits = EXCLUDED.commits;

-- name: LowestOffsets :many
-- What no consumer needs any more of the newest log of each topic. A topic whose newest log nobody has
-- checkpoints of has none: those of the log before say nothing of it.
SELECT l.topic, l.topic_id, c.partition, min(c.next_offset)::bigint AS next_offset
  FROM checkpoint c
  JOIN log l ON l.id = c.log
 WHERE l.id = (SELECT max(n.id) FROM log n WHERE n.topic = l.topic)
 GROUP BY l.topic, l.topic_id, c.partition;

-- name: DaysOver :many
-- The days of a table that were over at an instant, as YYYYMMDD, oldest first. With them come those that
-- are detached, or half so: what an interruption left.
SELECT right(c.relname, 8)::text AS day
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_class p ON p.relnamespace = c.relnamespace
 WHERE p.oid = to_regclass(@parent) AND c.relkind = 'r' AND c.relname ~ ('^' || p.relname || '_[0-9]{8}$')
   AND right(c.relname, 8) <= to_char((@instant::timestamptz) AT TIME ZONE 'UTC' - interval '1 day', 'YYYYMMDD')
 ORDER BY 1;

-- name: DropDay :one
SELECT drop_day(@parent, to_date(@day::text, 'YYYYMMDD'));

-- name: VocabularyIndexes :many
-- The vocabulary index of every day, and how many rows were ever written to the day.
SELECT i.inhrelid::bigint AS index, coalesce(s.n_tup_ins, 0)::bigint AS written
  FROM pg_catalog.pg_inherits i
  JOIN pg_catalog.pg_index x ON x.indexrelid = i.inhrelid
  JOIN pg_catalog.pg_stat_user_tables s ON s.relid = x.indrelid
 WHERE i.inhparent = 'event_lexemes'::regclass;

-- name: CleanPendingList :exec
SELECT clean_pending_list((@index::bigint)::oid);

-- name: DaysWithoutHours :many
-- Days of events that have no hours. One that is being detached has none to come.
SELECT (to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC')::timestamptz AS day
  FROM pg_catalog.pg_inherits i
  JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
 WHERE i.inhparent = 'event'::regclass AND NOT i.inhdetachpending AND c.relname ~ '_[0-9]{8}$'
   AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_inherits h JOIN pg_catalog.pg_class hc ON hc.oid = h.inhrelid
                    WHERE h.inhparent = 'rollup_hour'::regclass
                      AND hc.relname = 'rollup_hour_' || right(c.relname, 8));
