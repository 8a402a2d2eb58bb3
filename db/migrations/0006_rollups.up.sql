-- Rollups that searches read: whole days, severity by quarters, and how many events have a dimension at all.

-- The values that an event counts under, by dimension: the one definition of what rollups hold, for the fold,
-- for readers that add or take away rows, for the check and for the rebuild. The value '' of a dimension of
-- several values (tag, facets) is the event itself, once where it has any. A device has as many values as there
-- are devices, as a subject has: they are filters, never dimensions. Values of a facet lie together, by name.
CREATE FUNCTION event_dimensions(severity smallint, type text, source text, tags text[], facets text[])
RETURNS TABLE (dimension text, value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT 'severity', coalesce(severity, 0)::text
    UNION ALL SELECT 'type', type
    UNION ALL SELECT 'source', source
    UNION ALL SELECT 'tag', t FROM unnest(tags) t
    UNION ALL SELECT 'tag', '' WHERE cardinality(tags) > 0
    UNION ALL SELECT split_part(f, '=', 1), substr(f, strpos(f, '=') + 1) FROM unnest(facets) f WHERE f NOT LIKE 'device=%'
    UNION ALL SELECT split_part(f, '=', 1), '' FROM unnest(facets) WITH ORDINALITY x (f, i)
     WHERE f NOT LIKE 'device=%' AND (i = 1 OR split_part(facets[i - 1], '=', 1) <> split_part(f, '=', 1))
$$;
REVOKE EXECUTE ON FUNCTION event_dimensions FROM PUBLIC;

-- UTC days over all partitions, folded with the hours and exact for the same commits. So few rows that they
-- need no partitions: a question over a month reads thirty values of each.
CREATE TABLE rollup_day (
    bucket    timestamptz NOT NULL,
    dimension text COLLATE "C" NOT NULL,
    value     text COLLATE "C" NOT NULL,
    n         bigint NOT NULL,
    errors    bigint NOT NULL,
    PRIMARY KEY (bucket, dimension, value)
);

-- Questions are about one dimension. A histogram of one value reads its hours in a row; the quarters are read
-- for the ends of a range and for zones that are half an hour apart, over all values.
ALTER TABLE rollup_hour DROP CONSTRAINT rollup_hour_pkey, ADD PRIMARY KEY (dimension, value, bucket);
ALTER TABLE rollup_quarter DROP CONSTRAINT rollup_quarter_pkey, ADD PRIMARY KEY (dimension, bucket, value, log, partition);

-- What is stored already.
INSERT INTO rollup_quarter (bucket, log, partition, dimension, value, n, errors)
SELECT date_bin('15 minutes', bucket, '2000-01-01 00:00+00'), log, partition, 'severity', severity::text, sum(n), sum(errors)
  FROM rollup_minute GROUP BY 1, 2, 3, 5;
INSERT INTO rollup_quarter (bucket, log, partition, dimension, value, n, errors)
SELECT date_bin('15 minutes', e.occurred_at, '2000-01-01 00:00+00'), e.log, e.partition, d.dimension, '', count(*),
       count(*) FILTER (WHERE e.severity >= 6)
  FROM event e, event_dimensions(e.severity, e.type, e.source, e.tags, e.facets) d
 WHERE d.value = '' AND d.dimension NOT IN ('type', 'source') GROUP BY 1, 2, 3, 4;
INSERT INTO rollup_hour (bucket, dimension, value, n, errors)
SELECT date_trunc('hour', e.occurred_at, 'UTC'), d.dimension, '', count(*), count(*) FILTER (WHERE e.severity >= 6)
  FROM event e JOIN rollup_fold f ON f.log = e.log AND f.partition = e.partition AND e.commit <= f.commits,
       event_dimensions(e.severity, e.type, e.source, e.tags, e.facets) d
 WHERE d.value = '' AND d.dimension NOT IN ('type', 'source') GROUP BY 1, 2;
INSERT INTO rollup_day (bucket, dimension, value, n, errors)
SELECT date_trunc('day', bucket, 'UTC'), dimension, value, sum(n), sum(errors) FROM rollup_hour GROUP BY 1, 2, 3;
