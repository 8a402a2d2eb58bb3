-- name: PageSavedSearches :many
-- One's own and the shared ones by name, from after the last of the page before.
SELECT * FROM saved_search
 WHERE (owner = @reader OR shared) AND (name, id) > (@after_name::text, @after_id::bigint)
 ORDER BY name, id
 LIMIT @size;

-- name: SavedSearch :one
SELECT * FROM saved_search WHERE id = @id;

-- name: LockSavedSearch :one
SELECT * FROM saved_search WHERE id = @id FOR UPDATE;

-- name: LockKeeper :exec
-- Whoever keeps something is held until the end of the transaction, so that two at once do not pass a limit.
SELECT pg_advisory_xact_lock(hashtextextended('oriel.saved ' || @keeper::text, 0));

-- name: CountSavedSearches :one
SELECT count(*) FROM saved_search WHERE owner = @owner;

-- name: AddSavedSearch :one
INSERT INTO saved_search (owner, owner_name, name, shared, params, view)
VALUES (@owner, @owner_name, @name, @shared, @params, @view)
RETURNING *;

-- name: ChangeSavedSearch :one
UPDATE saved_search
   SET name = @name, shared = @shared, params = @params, view = @view, version = version + 1, updated_at = clock_timestamp()
 WHERE id = @id
RETURNING *;

-- name: DeleteSavedSearch :exec
DELETE FROM saved_search WHERE id = @id;

-- name: ShareLink :one
-- used_at moves at most once a day: a link that is opened all the time is written once.
SELECT slug, params, (used_at < clock_timestamp() - interval '1 day')::boolean AS stale FROM share_link WHERE slug = @slug;

-- name: UseShareLink :exec
UPDATE share_link SET used_at = clock_timestamp() WHERE slug = @slug AND used_at < clock_timestamp() - interval '1 day';

-- name: CountShareLinks :one
SELECT count(*) FROM share_link WHERE created_by = @created_by;

-- name: AddShareLink :execrows
INSERT INTO share_link (slug, params, created_by) VALUES (@slug, @params, @created_by) ON CONFLICT (slug) DO NOTHING;

-- name: DropUnusedShareLinks :execrows
-- What nobody has opened for a year, a bounded number at once.
DELETE FROM share_link WHERE slug IN (
    SELECT slug FROM share_link WHERE used_at < clock_timestamp() - interval '1 year' LIMIT @most);
