-- name: LockFacetVersions :exec
-- One at a time finds or makes a version.
SELECT pg_advisory_xact_lock(hashtextextended('oriel.facets', 0));

-- name: UseFacetVersion :one
UPDATE facet_version SET used_at = clock_timestamp() WHERE config = @config RETURNING version;

-- name: AddFacetVersion :one
INSERT INTO facet_version (version, config, fields, counted)
SELECT max(version) + 1, @config, @fields::text[], @counted::text[] FROM facet_version
RETURNING version;

-- name: OtherFacetVersions :many
-- What other consumers have used of late.
SELECT version, config FROM facet_version
 WHERE version <> @version AND used_at > clock_timestamp() - make_interval(secs => @seconds::double precision) ORDER BY version;

-- name: UncountedFacets :many
-- Fields that some events may have which are in no rollup.
SELECT DISTINCT f::text AS name FROM facet_version v CROSS JOIN unnest(v.fields) f WHERE NOT f = ANY (v.counted);
