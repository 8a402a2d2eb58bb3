-- name: RollupProgress :many
-- How far each partition is stored, and how far the hours and days hold it.
SELECT c.log, c.partition, c.commits, coalesce(f.commits, 0)::bigint AS folded
  FROM checkpoint c
  LEFT JOIN rollup_fold f ON f.log = c.log AND f.partition = c.partition
 WHERE c.consumer = 'store'
 ORDER BY c.log, c.partition;

-- name: PathsOfTypes :many
-- The paths that were ever seen in the data of some types, and what kinds of values were there.
SELECT path, bit_or(kinds)::smallint AS kinds FROM type_path WHERE type = ANY (@types::text[]) GROUP BY path ORDER BY path LIMIT @most;

-- name: DropRollupDays :exec
-- Days that are older than any event can be: whole days have no partitions that go with the events.
DELETE FROM rollup_day
 WHERE bucket < (SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD'))::timestamp AT TIME ZONE 'UTC'
                   FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
                  WHERE i.inhparent = 'event'::regclass AND c.relname ~ '_[0-9]{8}$');
