-- name: StoreVector :many
-- What every partition has stored: the clock of snapshots.
SELECT log, partition, commits FROM checkpoint WHERE consumer = 'store' ORDER BY log, partition;

-- name: EventPartitions :many
-- The day partitions of event, event_YYYYMMDD, oldest first. One without a page has no row that this statement's
-- snapshot could see.
SELECT c.relname::text AS name, coalesce(pg_relation_size(c.oid), 0) > 0 AS filled
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

-- name: CommitsBefore :many
-- What every partition had stored before an instant, through ledger_arrival. Clocks that are set back a little
-- put commits out of order: so the last ones are compared.
SELECT c.log, c.partition, coalesce(
         (SELECT max(x.commit) FROM (SELECT l.commit FROM ledger l
           WHERE l.consumer = 'store' AND l.log = c.log AND l.partition = c.partition AND l.committed_at < @at
           ORDER BY l.committed_at DESC LIMIT 50) x), t.through_commit, 0)::bigint AS commits
  FROM checkpoint c LEFT JOIN ledger_total t ON t.consumer = c.consumer AND t.log = c.log AND t.partition = c.partition
 WHERE c.consumer = 'store' ORDER BY c.log, c.partition;

-- name: TypesOfPath :many
-- The types of which some event had one of the kinds at a path, or had more paths than are listed.
(SELECT t.type FROM type_path t WHERE t.path = @path AND t.kinds & @kinds::smallint <> 0 LIMIT @most)
UNION
(SELECT t.type FROM type_path t WHERE t.path = '*' LIMIT @most);

-- name: TermsWithPrefix :many
-- The hashes of words that begin with a text; payload values, which are terms as well, have a = in them.
SELECT DISTINCT t.hash FROM term t WHERE t.word >= @low AND t.word < @high AND strpos(t.word, '=') = 0 LIMIT @most;

-- name: SomeBlockGap :one
SELECT EXISTS (SELECT FROM block_gap);

-- name: DaysWithoutBlocks :many
-- Of some instants, those with rows in their UTC day that have no block, through event_commit.
SELECT d.at::timestamptz AS at
  FROM (SELECT unnest(@instants::timestamptz[]) AS at) d
 WHERE EXISTS (
   SELECT FROM block_gap g CROSS JOIN LATERAL (
     SELECT FROM event e
      WHERE e.occurred_at >= date_bin('24 hours', d.at, '1970-01-01Z') AND e.occurred_at < date_bin('24 hours', d.at, '1970-01-01Z') + interval '24 hours'
        AND e.log = g.log AND e.partition = g.partition AND e.commit <= g.through_commit LIMIT 1) x);
