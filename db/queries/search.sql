-- name: StoreVector :many
-- What every partition has stored: the clock of snapshots.
SELECT log, partition, commits FROM checkpoint WHERE consumer = 'store' ORDER BY log, partition;

-- name: EventPartitions :many
-- The day partitions of event, event_YYYYMMDD, oldest first.
SELECT c.relname::text AS name
  FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
 WHERE i.inhparent = 'event'::regclass AND NOT i.inhdetachpending
 ORDER BY c.relname;

-- name: LiveLexiconKeys :many
-- The versions that rows may carry.
SELECT key FROM lexicon_version WHERE state = 'live' ORDER BY version;

-- name: LogTopics :many
SELECT id, topic FROM log;

-- name: EventAt :one
-- One event by its whole identity, through event_identity.
SELECT * FROM event WHERE occurred_at = @occurred_at AND source = @source AND id = @id;

-- name: EventTimes :many
-- The times of an identity within one day partition, newest first.
SELECT occurred_at FROM event
 WHERE occurred_at >= @day_from AND occurred_at < @day_until AND source = @source AND id = @id
 ORDER BY occurred_at DESC LIMIT @most;
