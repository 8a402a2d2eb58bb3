DROP FUNCTION event_dimensions;
DROP TABLE facet_version;
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
