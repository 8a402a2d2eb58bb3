-- name: OutboxAcquire :many
-- The only place that skips locked rows. Materialized, or a nested loop could lock and take more than the limit.
WITH free AS MATERIALIZED (
    SELECT s.shard FROM outbox_shard s
     WHERE s.lease_until < clock_timestamp()
     ORDER BY random()
     LIMIT @max_shards::integer
       FOR UPDATE SKIP LOCKED
)
UPDATE outbox_shard s
   SET owner = @owner::text, token = s.token + 1,
       lease_until = clock_timestamp() + make_interval(secs => @ttl_seconds)
  FROM free
 WHERE s.shard = free.shard
RETURNING s.shard, s.token;

-- name: OutboxRenew :many
UPDATE outbox_shard
   SET lease_until = clock_timestamp() + make_interval(secs => @ttl_seconds)
 WHERE owner = @owner::text
RETURNING shard, token;

-- name: OutboxRelease :execrows
UPDATE outbox_shard
   SET owner = NULL, lease_until = '-infinity'
 WHERE owner = @owner::text AND shard = ANY (@shards::smallint[]);

-- name: OutboxBeat :one
-- Says that a relay runs, and counts those that do. One that ended without a word is forgotten in time.
WITH me AS (
    INSERT INTO outbox_relay (name, seen_until)
    VALUES (@name, clock_timestamp() + make_interval(secs => @ttl_seconds))
    ON CONFLICT (name) DO UPDATE SET seen_until = EXCLUDED.seen_until
    RETURNING name
), gone AS (
    DELETE FROM outbox_relay r
     WHERE r.name = (SELECT o.name FROM outbox_relay o WHERE o.seen_until < clock_timestamp() - interval '1 hour' LIMIT 1)
)
SELECT (SELECT count(*) FROM me)
     + (SELECT count(*) FROM outbox_relay r WHERE r.seen_until > clock_timestamp() AND r.name <> @name) AS relays;

-- name: OutboxLeave :exec
DELETE FROM outbox_relay WHERE name = @name;

-- name: OutboxHeads :many
-- What may be published, the oldest of each topic of each shard first. lane walks the topics of a shard from
-- one to the next. A message waits while an earlier one of its key is dead and blocks the key, is not due, or
-- is for another topic; previous is the earlier one that has to be published before it. After a failure a lane
-- is tried with one message.
WITH RECURSIVE lane AS (
    SELECT s.shard, (SELECT o.topic FROM outbox o
                      WHERE o.shard = s.shard AND NOT o.dead ORDER BY o.topic LIMIT 1) AS topic
      FROM (SELECT unnest(@shards::smallint[]) AS shard) s
    UNION ALL
    SELECT l.shard, (SELECT o.topic FROM outbox o
                      WHERE o.shard = l.shard AND NOT o.dead AND o.topic > l.topic ORDER BY o.topic LIMIT 1)
      FROM lane l
     WHERE l.topic IS NOT NULL
)
SELECT h.id, h.shard, h.topic, h.order_key, h.seq, h.attempts, h.size::bigint AS size,
       coalesce(h.previous, 0)::bigint AS previous, (h.previous IS NULL)::boolean AS first,
       coalesce(b.fails, 0)::integer AS fails
  FROM lane l
  LEFT JOIN outbox_backoff b ON b.shard = l.shard AND b.topic = l.topic
 CROSS JOIN LATERAL (
    SELECT o.id, o.shard, o.topic, o.order_key, o.seq, o.attempts,
           coalesce(octet_length(o.record_value), 0) + coalesce(octet_length(o.record_key), 0) AS size,
           (SELECT p.seq FROM outbox p
             WHERE p.order_key = o.order_key AND p.seq < o.seq AND (NOT p.dead OR p.blocks_key)
             ORDER BY p.seq DESC LIMIT 1) AS previous
      FROM outbox o
     WHERE o.shard = l.shard AND o.topic = l.topic AND NOT o.dead
       AND o.next_attempt_at <= clock_timestamp()
       AND o.id <> ALL (@held::bigint[])
       AND NOT EXISTS (SELECT FROM outbox p
                        WHERE p.order_key = o.order_key AND p.seq < o.seq
                          AND CASE WHEN p.dead THEN p.blocks_key
                                   ELSE p.next_attempt_at > clock_timestamp() OR p.topic <> o.topic END)
     ORDER BY o.id
     LIMIT CASE WHEN b.fails IS NULL THEN @per_lane::integer ELSE 1 END) h
 WHERE l.topic IS NOT NULL AND (b.until IS NULL OR b.until <= clock_timestamp());

-- name: OutboxLoad :many
SELECT id, record_key, headers, record_value, (smaller_value IS NOT NULL)::boolean AS has_smaller
  FROM outbox
 WHERE id = ANY (@ids::bigint[]) AND NOT dead;

-- name: OutboxDelete :exec
-- By id alone: an acknowledgement is true whoever holds the shard by now.
DELETE FROM outbox WHERE id = ANY (@ids::bigint[]);

-- name: OutboxBury :execrows
-- What a relay says about a failure counts only while it holds the shard, here and in the two below.
WITH said AS (
    SELECT unnest(@ids::bigint[]) AS id, unnest(@tokens::bigint[]) AS token,
           unnest(@reasons::text[]) AS reason, unnest(@details::text[]) AS detail
), held AS MATERIALIZED (
    SELECT s.shard, s.token FROM outbox_shard s WHERE s.owner = @owner::text ORDER BY s.shard FOR SHARE
)
UPDATE outbox o
   SET dead = true, died_at = clock_timestamp(), attempts = o.attempts + 1, reason = said.reason, detail = said.detail
  FROM said, held
 WHERE o.id = said.id AND NOT o.dead AND held.shard = o.shard AND held.token = said.token;

-- name: OutboxDelay :execrows
WITH said AS (
    SELECT unnest(@ids::bigint[]) AS id, unnest(@tokens::bigint[]) AS token,
           unnest(@counted::integer[]) AS counted, unnest(@seconds::float8[]) AS seconds
), held AS MATERIALIZED (
    SELECT s.shard, s.token FROM outbox_shard s WHERE s.owner = @owner::text ORDER BY s.shard FOR SHARE
)
UPDATE outbox o
   SET attempts = o.attempts + said.counted, next_attempt_at = clock_timestamp() + make_interval(secs => said.seconds)
  FROM said, held
 WHERE o.id = said.id AND NOT o.dead AND held.shard = o.shard AND held.token = said.token;

-- name: OutboxShrink :execrows
WITH said AS (
    SELECT unnest(@ids::bigint[]) AS id, unnest(@tokens::bigint[]) AS token
), held AS MATERIALIZED (
    SELECT s.shard, s.token FROM outbox_shard s WHERE s.owner = @owner::text ORDER BY s.shard FOR SHARE
)
UPDATE outbox o
   SET record_value = o.smaller_value, smaller_value = NULL
  FROM said, held
 WHERE o.id = said.id AND NOT o.dead AND o.smaller_value IS NOT NULL
   AND held.shard = o.shard AND held.token = said.token;

-- name: OutboxBackOff :execrows
-- Full jitter below a ceiling that doubles. Fenced like the others.
WITH pause AS (
    SELECT @cap_seconds::float8 AS cap, @base_seconds::float8 AS base
), held AS MATERIALIZED (
    SELECT s.shard FROM outbox_shard s
     WHERE s.shard = @shard::smallint AND s.owner = @owner::text AND s.token = @token::bigint
       FOR SHARE
)
INSERT INTO outbox_backoff (shard, topic, until, fails, class, detail)
SELECT held.shard, @topic::text,
       clock_timestamp() + make_interval(secs => random() * least(pause.cap, pause.base * power(2, least(coalesce(b.fails, 0), 30)))),
       coalesce(b.fails, 0) + 1, @class::text, @detail::text
  FROM pause, held
  LEFT JOIN outbox_backoff b ON b.shard = held.shard AND b.topic = @topic::text
ON CONFLICT (shard, topic) DO UPDATE
   SET until = EXCLUDED.until, fails = EXCLUDED.fails, class = EXCLUDED.class, detail = EXCLUDED.detail;

-- name: OutboxResume :exec
DELETE FROM outbox_backoff b
 USING (SELECT unnest(@shards::smallint[]) AS shard, unnest(@topics::text[]) AS topic) done
 WHERE b.shard = done.shard AND b.topic = done.topic;

-- name: OutboxState :one
-- What an operator looks at, over all shards, whoever holds them.
WITH RECURSIVE lane AS (
    SELECT s.shard, (SELECT o.topic FROM outbox o
                      WHERE o.shard = s.shard AND NOT o.dead ORDER BY o.topic LIMIT 1) AS topic
      FROM outbox_shard s
    UNION ALL
    SELECT l.shard, (SELECT o.topic FROM outbox o
                      WHERE o.shard = l.shard AND NOT o.dead AND o.topic > l.topic ORDER BY o.topic LIMIT 1)
      FROM lane l
     WHERE l.topic IS NOT NULL
)
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(oldest.created_at)), 0)::float8 AS oldest_seconds,
       (SELECT count(*) FROM outbox d WHERE d.dead) AS dead,
       (SELECT coalesce(array_agg(b.class), '{}') FROM outbox_backoff b)::text[] AS backoffs
  FROM lane l
 CROSS JOIN LATERAL (
    SELECT o.created_at FROM outbox o
     WHERE o.shard = l.shard AND o.topic = l.topic AND NOT o.dead ORDER BY o.id LIMIT 1) oldest
 WHERE l.topic IS NOT NULL;

-- name: OutboxForgetBackoffs :exec
-- Of lanes that have nothing left to try.
DELETE FROM outbox_backoff b
 WHERE b.until < clock_timestamp() - interval '10 minutes'
   AND NOT EXISTS (SELECT FROM outbox o WHERE o.shard = b.shard AND o.topic = b.topic AND NOT o.dead);

-- name: OutboxDead :many
-- What waits for an operator, the oldest first; waiting are the later ones of its key. topic '' is any.
SELECT o.id, o.topic, o.order_key, o.seq, o.attempts, coalesce(o.reason, '')::text AS reason, coalesce(o.detail, '')::text AS detail,
       o.died_at::timestamptz AS died_at,
       (coalesce(octet_length(o.record_value), 0) + coalesce(octet_length(o.record_key), 0))::bigint AS size,
       CASE WHEN o.blocks_key THEN (SELECT count(*) FROM outbox w
                                     WHERE w.order_key = o.order_key AND w.seq > o.seq AND NOT w.dead) ELSE 0 END::bigint AS waiting
  FROM outbox o
 WHERE o.dead AND (o.topic = @topic::text OR @topic = '')
 ORDER BY o.id
 LIMIT @most::integer;

-- name: OutboxRetryDead :many
-- Those of ids, or all of a topic.
UPDATE outbox o
   SET dead = false, died_at = NULL, reason = NULL, detail = NULL, attempts = 0, next_attempt_at = clock_timestamp()
  FROM (SELECT d.id, d.reason FROM outbox d
         WHERE d.dead AND (d.id = ANY (@ids::bigint[]) OR d.topic = @topic::text)
         ORDER BY d.id FOR UPDATE) was
 WHERE o.id = was.id
RETURNING o.id, o.topic, o.order_key, o.seq, coalesce(was.reason, '')::text AS reason;

-- name: OutboxDiscardDead :many
DELETE FROM outbox o
 WHERE o.dead AND (o.id = ANY (@ids::bigint[]) OR o.topic = @topic::text)
RETURNING o.id, o.topic, o.order_key, o.seq, coalesce(o.reason, '')::text AS reason;
