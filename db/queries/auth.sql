-- name: CreateToken :one
INSERT INTO api_token (prefix, hash, name, scopes, source_prefixes, expires_at, created_by)
VALUES (@prefix, @hash, @name, @scopes, @source_prefixes, @expires_at, @created_by)
RETURNING id, created_at, expires_at;

-- name: FindToken :one
SELECT id, name, scopes, source_prefixes, expires_at, revoked_at
FROM api_token
WHERE hash = @hash;

-- name: GetToken :one
SELECT id, prefix, hash, name, scopes, source_prefixes, created_at, created_by, expires_at, last_used_at,
       revoked_at, revoked_by, COALESCE(expires_at <= now(), false)::boolean AS past
FROM api_token
WHERE id = @id;

-- name: ListTokens :many
SELECT id, prefix, hash, name, scopes, source_prefixes, created_at, created_by, expires_at, last_used_at,
       revoked_at, revoked_by, COALESCE(expires_at <= now(), false)::boolean AS past
FROM api_token
ORDER BY id;

-- A page of tokens and their number select by the same conditions: change both. The transaction's time
-- keeps them in step.
-- name: PageTokens :many
SELECT id, prefix, hash, name, scopes, source_prefixes, created_at, created_by, expires_at, last_used_at,
       revoked_at, revoked_by, COALESCE(expires_at <= now(), false)::boolean AS past
FROM api_token
WHERE id < @below
  AND (position(lower(@part::text) IN lower(name)) > 0
       OR (@prefix::text <> '' AND starts_with(lower(prefix), lower(@prefix::text))))
  AND (cardinality(@states::text[]) = 0
       OR CASE WHEN revoked_at IS NOT NULL THEN 'revoked'
               WHEN expires_at <= now() THEN 'expired'
               ELSE 'active' END = ANY (@states::text[]))
ORDER BY id DESC
LIMIT @size;

-- name: CountTokens :one
SELECT count(*)
FROM api_token
WHERE (position(lower(@part::text) IN lower(name)) > 0
       OR (@prefix::text <> '' AND starts_with(lower(prefix), lower(@prefix::text))))
  AND (cardinality(@states::text[]) = 0
       OR CASE WHEN revoked_at IS NOT NULL THEN 'revoked'
               WHEN expires_at <= now() THEN 'expired'
               ELSE 'active' END = ANY (@states::text[]));

-- name: RevokeToken :execrows
UPDATE api_token
SET revoked_at = clock_timestamp(), revoked_by = @revoked_by
WHERE id = @id AND revoked_at IS NULL;

-- The database's clock decides, so that replicas together write at most once a minute.
-- name: TouchToken :exec
UPDATE api_token
SET last_used_at = clock_timestamp()
WHERE id = @id
  AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute');

-- name: BeginSignIn :exec
INSERT INTO sign_in (state, browser, nonce, verifier, origin, return_to, expires_at)
VALUES (@state, @browser, @nonce, @verifier, @origin, @return_to,
        statement_timestamp() + make_interval(secs => @lasting::float8));

-- name: FindSignIn :one
SELECT browser
FROM sign_in
WHERE state = @state AND expires_at > statement_timestamp();

-- Of several that try, one gets the row.
-- name: TakeSignIn :one
DELETE FROM sign_in
WHERE state = @state AND browser = @browser AND expires_at > statement_timestamp()
RETURNING nonce, verifier, origin, return_to;

-- The newest @keep stay. The cut is found first: rows that OFFSET passes would be locked too.
-- name: DropOldestSignIns :execrows
WITH cut AS MATERIALIZED (
    SELECT o.expires_at FROM sign_in o ORDER BY o.expires_at DESC OFFSET @keep::bigint LIMIT 1
), surplus AS MATERIALIZED (
    SELECT o.state FROM sign_in o
    WHERE o.expires_at <= (SELECT cut.expires_at FROM cut)
    ORDER BY o.expires_at
    LIMIT @batch::bigint
    FOR UPDATE OF o SKIP LOCKED
)
DELETE FROM sign_in WHERE state IN (SELECT surplus.state FROM surplus);

-- name: SweepSignIns :execrows
WITH past AS MATERIALIZED (
    SELECT o.state FROM sign_in o
    WHERE o.expires_at <= statement_timestamp()
    ORDER BY o.expires_at
    LIMIT @batch::bigint
    FOR UPDATE SKIP LOCKED
)
DELETE FROM sign_in WHERE state IN (SELECT past.state FROM past);

-- name: CreateSession :one
INSERT INTO session (hash, issuer, subject, name, email, roles, refresh_token, id_token,
                     created_at, seen_at, checked_at, check_after, expires_at)
VALUES (@hash, @issuer, @subject, @name, @email, @roles, @refresh_token, @id_token,
        statement_timestamp(), statement_timestamp(), statement_timestamp(),
        statement_timestamp() + make_interval(secs => @role_check::float8),
        statement_timestamp() + make_interval(secs => @lasting::float8))
RETURNING created_at, expires_at;

-- What a request needs of a session that is neither expired nor idle. A refresh token that none of our
-- keys opens (@keys are their marks) is none: the session ends soon after the sign-in. outdated: the roles
-- are too old to be believed.
-- name: FindSession :one
SELECT issuer, subject, name, email, roles, created_at, check_after, asking,
       (CASE WHEN COALESCE(substring(refresh_token FROM 1 FOR 8) = ANY (@keys::bytea[]), false) THEN expires_at
             ELSE least(expires_at, created_at + make_interval(secs => @without_refresh::float8)) END)::timestamptz AS ends_at,
       COALESCE(substring(refresh_token FROM 1 FOR 8) = ANY (@keys::bytea[]), false)::boolean AS refreshable,
       (check_after <= statement_timestamp())::boolean AS due,
       (checked_at <= statement_timestamp() - make_interval(secs => @believed::float8))::boolean AS outdated,
       (seen_at <= statement_timestamp() - make_interval(secs => @touch_every::float8))::boolean AS untouched,
       extract(epoch FROM check_after - statement_timestamp())::float8 AS due_in
FROM session
WHERE hash = @hash
  AND expires_at > statement_timestamp()
  AND seen_at > statement_timestamp() - make_interval(secs => @idle::float8)
  AND (COALESCE(substring(refresh_token FROM 1 FOR 8) = ANY (@keys::bytea[]), false)
       OR created_at > statement_timestamp() - make_interval(secs => @without_refresh::float8));

-- name: TouchSession :exec
UPDATE session
SET seen_at = clock_timestamp()
WHERE hash = @hash AND seen_at <= clock_timestamp() - make_interval(secs => @touch_every::float8);

-- Of all replicas that saw the same check_after, one gets the row and asks the provider.
-- name: ClaimCheck :one
UPDATE session
SET check_after = clock_timestamp() + make_interval(secs => @claim::float8), asking = true
WHERE hash = @hash AND check_after = @seen AND check_after <= clock_timestamp()
RETURNING check_after, refresh_token, id_token;

-- The claim was lost where another replica has moved check_after since.
-- name: LockClaimed :one
SELECT issuer, subject, name, email, roles, created_at, expires_at
FROM session
WHERE hash = @hash AND check_after = @claimed
FOR UPDATE;

-- name: StoreCheck :exec
UPDATE session
SET name = @name, email = @email, roles = @roles, refresh_token = @refresh_token, id_token = @id_token,
    checked_at = statement_timestamp(), asking = false,
    check_after = statement_timestamp() + make_interval(secs => @role_check::float8)
WHERE hash = @hash;

-- name: StoreNoAnswer :execrows
UPDATE session
SET asking = false, refresh_token = @refresh_token
WHERE hash = @hash AND check_after = @claimed;

-- name: EndClaimed :execrows
DELETE FROM session
WHERE hash = @hash AND check_after = @claimed;

-- name: EndSession :many
DELETE FROM session
WHERE hash = @hash
RETURNING hash, id_token;

-- Locked in one order, so that two of them never wait for each other.
-- name: EndSessionsOf :many
WITH theirs AS MATERIALIZED (
    SELECT o.hash FROM session o
    WHERE o.issuer = @issuer AND o.subject = @subject
    ORDER BY o.hash
    FOR UPDATE
)
DELETE FROM session WHERE hash IN (SELECT theirs.hash FROM theirs)
RETURNING hash, id_token;

-- name: SweepSessions :execrows
WITH past AS MATERIALIZED (
    SELECT o.hash FROM session o
    WHERE o.expires_at <= statement_timestamp()
       OR o.seen_at <= statement_timestamp() - make_interval(secs => @idle::float8)
    LIMIT @batch::bigint
    FOR UPDATE SKIP LOCKED
)
DELETE FROM session WHERE hash IN (SELECT past.hash FROM past);
