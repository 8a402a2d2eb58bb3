-- name: Blocks :many
-- Every block but its bytes, neighbours one after another. Blocks of commits that are to be reindexed are left
-- alone: commits between theirs may have none.
SELECT b.day, b.log, b.partition, b.version, b.from_commit, b.through_commit, b.rows, b.entries, b.base_offset, b.last_offset,
       extract(epoch FROM clock_timestamp() - b.made_at)::float8 AS age
  FROM event_block b
  LEFT JOIN block_gap g ON g.log = b.log AND g.partition = b.partition AND g.through_commit >= b.from_commit
 WHERE g.log IS NULL
 ORDER BY b.day DESC, b.log, b.partition, b.version, b.from_commit;

-- name: LockBlocks :exec
-- Whoever replaces blocks does it alone. A leader that lost its lock may still be at its last merge.
SELECT pg_advisory_xact_lock(hashtextextended('oriel.event_block', 0));

-- name: TakeBlocks :many
SELECT * FROM event_block
 WHERE day = @day AND log = @log AND partition = @partition AND version = @version
   AND from_commit BETWEEN @first::bigint AND @last::bigint
 ORDER BY from_commit
   FOR UPDATE;

-- name: DeleteBlocks :execrows
DELETE FROM event_block
 WHERE day = @day AND log = @log AND partition = @partition AND version = @version
   AND from_commit BETWEEN @first::bigint AND @last::bigint;

-- name: InsertBlock :exec
INSERT INTO event_block (day, log, partition, version, from_commit, through_commit, rows, entries, buckets, base_offset, last_offset,
    keys, lists, places)
VALUES (@day, @log, @partition, @version, @from_commit, @through_commit, @rows, @entries, @buckets, @base_offset, @last_offset,
    @keys, @lists, @places);

-- name: BlockGaps :many
SELECT * FROM block_gap ORDER BY log, partition;

-- name: RemoveBlockGap :execrows
-- Unless it has grown meanwhile.
DELETE FROM block_gap WHERE log = @log AND partition = @partition AND through_commit = @through_commit;

-- name: SeriesBlocks :many
SELECT from_commit, through_commit, rows, made_at FROM event_block
 WHERE day = @day AND log = @log AND partition = @partition AND version = @version
 ORDER BY from_commit;

-- name: SomeRowOfCommits :one
SELECT EXISTS (SELECT FROM event
 WHERE occurred_at >= @day_from AND occurred_at < @day_until AND log = @log AND partition = @partition
   AND commit > @above AND commit <= @through);

-- name: CountRowsOfCommits :one
SELECT count(*) FROM event
 WHERE occurred_at >= @day_from AND occurred_at < @day_until AND log = @log AND partition = @partition
   AND commit > @above AND commit <= @through;

-- name: MakeBlockDay :exec
SELECT ensure_day('event_block', @day::date);

-- name: ReadBlock :one
SELECT rows, entries, buckets, base_offset, keys, lists, places FROM event_block
 WHERE day = @day AND log = @log AND partition = @partition AND version = @version AND from_commit = @from_commit;

-- name: RemoveEmptyBlockGaps :exec
-- Of partitions whose rows without blocks have all gone with their days.
DELETE FROM block_gap g
 WHERE NOT EXISTS (SELECT FROM event e WHERE e.log = g.log AND e.partition = g.partition AND e.commit <= g.through_commit);
