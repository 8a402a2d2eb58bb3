-- name: NewestLog :one
-- The log of a topic that a consumer has checkpoints in; the newest one where it has several.
SELECT l.id, l.topic_id
  FROM log l
 WHERE l.topic = @topic
   AND EXISTS (SELECT 1 FROM checkpoint c WHERE c.consumer = @consumer AND c.log = l.id)
 ORDER BY l.id DESC
 LIMIT 1;

-- name: EnsureLog :one
-- The no-op update makes RETURNING answer for a row that was there.
INSERT INTO log (topic, topic_id) VALUES (@topic, @topic_id)
ON CONFLICT (topic, topic_id) DO UPDATE SET topic = EXCLUDED.topic
RETURNING id;

-- name: InsertCheckpoint :execrows
INSERT INTO checkpoint (consumer, log, partition, next_offset)
VALUES (@consumer, @log, @partition, @next_offset)
ON CONFLICT (consumer, log, partition) DO NOTHING;

-- name: KnownPartitions :many
SELECT partition FROM checkpoint
 WHERE consumer = @consumer AND log = @log AND partition = ANY (@partitions::integer[]);

-- name: TakeOver :many
-- In partition order, so that two members that take over at once do not deadlock. Commits of a build that
-- writes no blocks are remembered as having none.
WITH mine AS MATERIALIZED (
    SELECT c.partition, c.commits, c.blocks FROM checkpoint c
     WHERE c.consumer = @consumer AND c.log = @log AND c.partition = ANY (@partitions::integer[])
     ORDER BY c.partition
       FOR UPDATE
), gap AS (
    INSERT INTO block_gap AS g (log, partition, through_commit)
    SELECT @log, m.partition, m.commits FROM mine m WHERE m.blocks < m.commits ORDER BY m.partition
    ON CONFLICT (log, partition) DO UPDATE SET through_commit = greatest(g.through_commit, EXCLUDED.through_commit)
)
UPDATE checkpoint c
   SET owner_epoch = c.owner_epoch + 1, owner = @owner::text, blocks = c.commits, updated_at = clock_timestamp()
  FROM mine
 WHERE c.consumer = @consumer AND c.log = @log AND c.partition = mine.partition
RETURNING c.partition, c.next_offset, c.high_offset, c.leader_epoch, c.commits, c.owner_epoch, c.state, c.state_reason;

-- name: StickCheckpoint :execrows
UPDATE checkpoint
   SET state = @state, state_reason = @reason::text, updated_at = clock_timestamp()
 WHERE consumer = @consumer AND log = @log AND partition = @partition
   AND owner_epoch = @owner_epoch AND state = 'running';

-- name: ReadCheckpoints :many
SELECT partition, next_offset, commits, owner_epoch, state
  FROM checkpoint
 WHERE consumer = @consumer AND log = @log AND partition = ANY (@partitions::integer[]);

-- name: LockCheckpoint :one
SELECT next_offset, commits, owner_epoch
  FROM checkpoint
 WHERE consumer = @consumer AND log = @log AND partition = @partition
   FOR UPDATE;

-- name: ResumeTripped :many
-- In partition order, as every statement that locks several checkpoints.
WITH tripped AS MATERIALIZED (
    SELECT c.partition FROM checkpoint c
     WHERE c.consumer = @consumer AND c.log = @log AND c.state = 'tripped'
     ORDER BY c.partition
       FOR UPDATE
)
UPDATE checkpoint c
   SET state = 'running', state_reason = NULL, updated_at = clock_timestamp()
  FROM tripped
 WHERE c.consumer = @consumer AND c.log = @log AND c.partition = tripped.partition
RETURNING c.partition;

-- name: CheckpointStates :many
SELECT partition, next_offset, state FROM checkpoint WHERE consumer = @consumer AND log = @log ORDER BY partition;

-- name: LockForMove :one
SELECT next_offset, commits, state, state_reason
  FROM checkpoint
 WHERE consumer = @consumer AND log = @log AND partition = @partition
   FOR UPDATE;

-- name: MoveCheckpoint :execrows
-- The owner is fenced off: it takes the partition over again and begins at the new offset.
UPDATE checkpoint
   SET next_offset = @to_offset::bigint, high_offset = least(high_offset, @end_offset::bigint), leader_epoch = -1,
       blocks = CASE WHEN blocks = commits THEN @commits ELSE blocks END,
       commits = @commits, owner_epoch = owner_epoch + 1, state = 'running', state_reason = NULL, updated_at = clock_timestamp()
 WHERE consumer = @consumer AND log = @log AND partition = @partition AND next_offset = @from_offset::bigint;

-- name: InsertSkipped :exec
INSERT INTO ledger (consumer, log, partition, commit, from_offset, to_offset, stored, duplicate, dead, skipped, expired)
VALUES (@consumer, @log, @partition, @commit, @from_offset, @to_offset, 0, 0, 0, @skipped, 0);

-- name: InsertDecision :exec
INSERT INTO consumer_decision (consumer, action, log, partition, detail, reason, actor)
VALUES (@consumer, @action, @log, @partition, @detail, @reason, @actor);

-- name: InsertTerms :exec
-- The arrays come sorted: two consumers that insert the same words wait for each other in one order.
INSERT INTO term (word, version, hash)
SELECT unnest(@words::text[]), @version::smallint, unnest(@hashes::bigint[])
ON CONFLICT (word, version) DO NOTHING;

-- name: InsertTypePaths :exec
INSERT INTO type_path AS t (type, path, kinds)
SELECT unnest(@types::text[]), unnest(@paths::text[]), unnest(@kinds::smallint[])
ON CONFLICT (type, path) DO UPDATE SET kinds = t.kinds | EXCLUDED.kinds
 WHERE t.kinds | EXCLUDED.kinds <> t.kinds;

-- name: LockDimensions :exec
SELECT pg_advisory_xact_lock(hashtextextended('oriel.dimension_value', 0));

-- name: CountDimension :one
SELECT count(*) FROM dimension_value WHERE dimension = @dimension;

-- name: InsertDimensionValues :execrows
INSERT INTO dimension_value (dimension, value)
SELECT @dimension::text, unnest(@texts::text[])
ON CONFLICT (dimension, value) DO NOTHING;

-- name: EnsureEventDay :exec
SELECT ensure_day('event', @day::date), ensure_day('event_block', @day::date), ensure_day('rollup_minute', @day::date), ensure_day('rollup_quarter', @day::date);

-- name: EnsureLedgerDays :exec
-- By the database's clock, which stamps the rows; tomorrow too, for the batch that meets midnight.
SELECT ensure_day('ledger', (clock_timestamp() AT TIME ZONE 'UTC')::date),
       ensure_day('ledger', (clock_timestamp() AT TIME ZONE 'UTC')::date + 1);

-- name: LexiconKey :one
SELECT key FROM lexicon_version WHERE version = @version;
