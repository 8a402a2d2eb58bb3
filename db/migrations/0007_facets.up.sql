-- Facet fields that an operator configures.

-- The configurations that events were derived by: event.facets_version says which. A row is never changed but for
-- used_at; the same configuration is the same version, whenever and wherever it is used again.
CREATE TABLE facet_version (
    version smallint PRIMARY KEY,
    config  text COLLATE "C" NOT NULL UNIQUE,  -- its one spelling
    fields  text[] NOT NULL,                   -- the names of its fields
    counted text[] NOT NULL,                   -- those of few values: the dimensions of its events
    used_at timestamptz NOT NULL DEFAULT now() -- by a consumer, to some minutes
);
-- What was built in before there was a configuration.
INSERT INTO facet_version (version, config, fields, counted) VALUES
    (1, 'device=data.deviceId,person=data.personId counted,room=data.roomId counted,tag=data.tags counted,severity=data.severity',
     '{device,person,room,tag}', '{person,room,tag}');

-- The values that an event counts under, by dimension: the one definition of what rollups hold, for the fold,
-- for readers that add or take away rows, for the check and for the rebuild. The value '' of a dimension of
-- several values (tag, facets) is the event itself, once where it has any. Of the facets it is those that the
-- configuration counts which the event was derived by, so what an event counts under never changes: a device has
-- as many values as there are devices, as a subject has, and is a filter, never a dimension.
DROP FUNCTION event_dimensions;
CREATE FUNCTION event_dimensions(severity smallint, type text, source text, tags text[], facets text[], facets_version smallint)
RETURNS TABLE (dimension text, value text) LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT 'severity', coalesce(severity, 0)::text
    UNION ALL SELECT 'type', type
    UNION ALL SELECT 'source', source
    UNION ALL SELECT 'tag', t FROM unnest(tags) t
    UNION ALL SELECT 'tag', '' WHERE cardinality(tags) > 0
    UNION ALL SELECT split_part(f, '=', 1), substr(f, strpos(f, '=') + 1) FROM unnest(facets) f
     WHERE split_part(f, '=', 1) = ANY (ARRAY(SELECT unnest(v.counted) FROM facet_version v WHERE v.version = facets_version))
    UNION ALL SELECT c, '' FROM facet_version v, unnest(v.counted) c
     WHERE v.version = facets_version AND EXISTS (SELECT FROM unnest(facets) f WHERE starts_with(f, c || '='))
$$;
REVOKE EXECUTE ON FUNCTION event_dimensions FROM PUBLIC;
