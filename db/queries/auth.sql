-- name: CreateToken :one
INSERT INTO api_token (prefix, hash, name, scopes, source_prefixes, expires_at)
VALUES (@prefix, @hash, @name, @scopes, @source_prefixes, @expires_at)
RETURNING id;

-- name: FindToken :one
SELECT id, name, scopes, source_prefixes, expires_at, revoked_at
FROM api_token
WHERE hash = @hash;

-- name: ListTokens :many
SELECT id, prefix, name, scopes, source_prefixes, created_at, expires_at, last_used_at, revoked_at
FROM api_token
ORDER BY id;

-- name: RevokeToken :execrows
UPDATE api_token
SET revoked_at = clock_timestamp()
WHERE id = @id AND revoked_at IS NULL;

-- The database's clock decides, so that replicas together write at most once a minute.
-- name: TouchToken :exec
UPDATE api_token
SET last_used_at = clock_timestamp()
WHERE id = @id
  AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute');
