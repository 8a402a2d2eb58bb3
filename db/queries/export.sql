-- name: EventsAt :many
-- Events by their places, each one look-up in the page index, in the order of lists.
SELECT e.*
  FROM (SELECT unnest(@times::timestamptz[]) AS at, unnest(@logs::smallint[]) AS log,
               unnest(@partitions::integer[]) AS partition, unnest(@offsets::bigint[]) AS "offset") k
  JOIN event e ON e.occurred_at = k.at AND e.log = k.log AND e.partition = k.partition AND e."offset" = k."offset"
 WHERE e.occurred_at >= @first AND e.occurred_at <= @last
 ORDER BY e.occurred_at DESC, e.log DESC, e.partition DESC, e."offset" DESC;
