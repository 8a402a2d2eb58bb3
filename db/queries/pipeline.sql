-- name: PipelineCheckpoints :many
-- How far a consumer is in the newest log of a topic.
SELECT c.log, l.topic_id, c.partition, c.next_offset, c.commits, c.state, c.state_reason, c.updated_at
  FROM checkpoint c JOIN log l ON l.id = c.log
 WHERE c.consumer = @consumer AND c.log = (SELECT max(n.id) FROM log n WHERE n.topic = @topic)
 ORDER BY c.partition;

-- name: PipelineStored :one
-- How many records of a partition were stored since a time. Its last commits are found by their number, as
-- the ledger has no index by time.
SELECT coalesce(sum(l.stored), 0)::bigint AS stored
  FROM ledger l
 WHERE l.consumer = @consumer AND l.log = @log AND l.partition = @partition
   AND l.commit > @after::bigint AND l.committed_at >= @since::timestamptz;

-- name: PipelineDeadLetters :one
SELECT count(*) AS day, count(*) FILTER (WHERE created_at >= @recent::timestamptz) AS recent
  FROM dead_letter
 WHERE created_at >= @since::timestamptz AND consumer = @consumer;
