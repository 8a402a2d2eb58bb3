-- name: ValuesFrom :many
-- Values of a dimension that begin with something, in order.
SELECT value FROM dimension_value WHERE dimension = @dimension AND value >= @first AND value < @beyond ORDER BY value LIMIT @most;

-- name: ValuesWith :many
-- Values of a dimension that have something as a part, among the first of them.
SELECT value FROM (SELECT value FROM dimension_value WHERE dimension = @dimension ORDER BY value LIMIT @among) v
 WHERE strpos(lower(value), lower(@part::text)) > 0 ORDER BY value LIMIT @most;

-- name: WordsFrom :many
-- Words of events that begin with something. Those with an equals sign stand for values of paths.
SELECT DISTINCT word FROM term WHERE word >= @first AND word < @beyond AND strpos(word, '=') = 0 ORDER BY word LIMIT @most;

-- name: PathsFrom :many
-- Paths that begin with something, of any type, in order: one look-up by type_path_path for each.
WITH RECURSIVE p AS (
    (SELECT path FROM type_path WHERE path >= @first::text AND path < @beyond::text ORDER BY path LIMIT 1)
    UNION ALL
    SELECT (SELECT t.path FROM type_path t WHERE t.path > p.path AND t.path < @beyond::text ORDER BY t.path LIMIT 1)
      FROM p WHERE p.path IS NOT NULL
)
SELECT p.path::text AS path, (SELECT bit_or(t.kinds) FROM (SELECT kinds FROM type_path WHERE path = p.path LIMIT 100) t)::smallint AS kinds
  FROM p WHERE p.path IS NOT NULL LIMIT @most;

-- name: PathsWith :many
-- Paths that have something as a part, among some.
SELECT path, bit_or(kinds)::smallint AS kinds FROM (
    SELECT path, kinds FROM (SELECT path, kinds FROM type_path ORDER BY path LIMIT @among) t
     WHERE strpos(lower(path), lower(@part::text)) > 0
) t GROUP BY path ORDER BY path LIMIT @most;

-- name: KindsOfPath :one
SELECT coalesce(bit_or(kinds), 0)::smallint AS kinds FROM (SELECT kinds FROM type_path WHERE path = @path LIMIT 1000) t;
