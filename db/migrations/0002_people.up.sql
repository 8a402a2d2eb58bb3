-- People, what they may do and what they did.

-- A signed-in browser. The cookie's value is random and only its SHA-256 is here; tokens of the identity
-- provider are sealed with ORIEL_SECRET_KEY.
CREATE TABLE session (
    hash          bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    issuer        text NOT NULL,
    subject       text NOT NULL,
    name          text NOT NULL CHECK (name <> ''),
    email         text,
    roles         text[] NOT NULL,
    refresh_token bytea,
    id_token      bytea,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at    timestamptz NOT NULL,
    checked_at    timestamptz NOT NULL DEFAULT clock_timestamp(), -- when the provider last told the roles
    -- No replica asks the provider before this instant: the one that moves it on is the one that asks.
    check_after   timestamptz NOT NULL,
    asking        boolean NOT NULL DEFAULT false -- a replica waits for the provider's answer
);
-- For signing out everywhere. The sweep reads the whole table, which is small: an index on seen_at would
-- cost every request's write.
CREATE INDEX session_person_idx ON session (issuer, subject);

-- A sign-in between its start and the provider's answer: used once, by the browser that started it.
CREATE TABLE sign_in (
    state      bytea PRIMARY KEY CHECK (octet_length(state) = 32),   -- SHA-256 of the state parameter
    browser    bytea NOT NULL CHECK (octet_length(browser) = 32),    -- SHA-256 of the pre-login cookie
    nonce      text NOT NULL,
    verifier   text NOT NULL,
    origin     text NOT NULL, -- scheme and host that the browser came to
    return_to  text NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_expiry_idx ON sign_in (expires_at); -- the sweep

ALTER TABLE api_token ADD COLUMN created_by text, ADD COLUMN revoked_by text;

-- What was done, append-only. An operation writes 'intent' before its effect and 'outcome' after it, or
-- one 'event' that commits together with its effect. Texts hold no control characters but newline and tab.
CREATE TABLE audit (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    operation  uuid NOT NULL,
    phase      text NOT NULL CHECK (phase IN ('intent', 'outcome', 'event')),
    action     text COLLATE "C" NOT NULL CHECK (action <> ''),
    outcome    text CHECK (outcome IN ('done', 'refused', 'failed')),
    actor_kind text NOT NULL CHECK (actor_kind IN ('person', 'token', 'workload', 'cli', 'system')),
    actor      text COLLATE "C" NOT NULL, -- bytes, so that the beginning of a name uses its index
    actor_id   text COLLATE "C" NOT NULL,
    roles      text[] NOT NULL, -- of a person; of a machine, its scopes
    target     text COLLATE "C" NOT NULL DEFAULT '',
    reason     text NOT NULL DEFAULT '',
    detail     text NOT NULL DEFAULT '', -- why it was refused or failed
    request_id text NOT NULL DEFAULT '',
    address    text NOT NULL DEFAULT '',
    before     jsonb,
    after      jsonb,
    -- What a search by text looks in: actor and its id, action, target, reason, detail, request id, before and
    -- after, in lower case. The program folds them: what lower() knows depends on the database's locale.
    folded     text COLLATE "C" NOT NULL DEFAULT '',
    CHECK ((phase = 'intent') = (outcome IS NULL))
);
CREATE UNIQUE INDEX audit_outcome_idx ON audit (operation) WHERE phase = 'outcome'; -- an operation's end, once
CREATE UNIQUE INDEX audit_begin_idx ON audit (operation) WHERE phase <> 'outcome';  -- and its beginning
CREATE INDEX audit_action_idx ON audit (action, id DESC); -- the page's filter by action
CREATE INDEX audit_actor_idx ON audit (actor, id DESC);   -- and by who, as shown
CREATE INDEX audit_actor_id_idx ON audit (actor_id, id DESC); -- or as they are told apart
CREATE INDEX audit_target_idx ON audit (target, id DESC); -- what was done to one thing

-- Grants keep the application from changing what is there; this keeps the owner from doing it by accident.
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

-- What only the owner of the tables may do, for a role that does not own them. Each function runs as its
-- owner, so it takes no name that it does not know, and finds every name in the schema of the tables alone:
-- the last statement of this file sees to that.

-- A table that is partitioned by UTC day, of the name. Not to be called from outside.
CREATE FUNCTION day_table(parent text) RETURNS regclass LANGUAGE plpgsql AS $$
BEGIN
    IF parent IN ('event', 'ledger', 'rollup_minute', 'rollup_quarter', 'rollup_hour') THEN
        RETURN parent::regclass;
    END IF;
    RAISE EXCEPTION 'no table of days: %', parent USING ERRCODE = 'undefined_table';
END $$;

-- Makes the partition of one UTC day, standalone first so that ATTACH takes no long lock: it waits for
-- no reader and no writer, and none waits for it. Safe to call at any time and by many; callers queue
-- for the end of each other's transactions, so call it in one of its own. True if the day is new.
CREATE OR REPLACE FUNCTION ensure_day(parent text, day date) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    whole regclass := day_table(parent);
    child text := parent || '_' || to_char(day, 'YYYYMMDD');
    col   text;
    lower timestamptz := day::timestamp AT TIME ZONE 'UTC';
    upper timestamptz := (day + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN
    -- The name is looked up in the table, not by a cast: a cast answers from the session's cache, which
    -- does not learn of another session's partition while this transaction waits for the lock.
    IF EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
               WHERE i.inhparent = whole AND c.relname = child) THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('oriel.ensure_day', 0));
    IF EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
               WHERE i.inhparent = whole AND c.relname = child) THEN
        RETURN false;
    END IF;
    SELECT a.attname INTO STRICT col
      FROM pg_partitioned_table p
      JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
     WHERE p.partrelid = whole;
    -- A table of that name that is no partition is a day that was detached: it comes back with what is
    -- still in it.
    IF NOT EXISTS (SELECT FROM pg_class c JOIN pg_class p ON p.relnamespace = c.relnamespace
                   WHERE p.oid = whole AND c.relname = child) THEN
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
        -- A sum is added to again and again: with room on its page that costs no index an entry.
        IF parent LIKE 'rollup\_%' THEN
            EXECUTE format('ALTER TABLE %I SET (fillfactor = 50)', child);
        END IF;
    END IF;
    -- With the bounds as a constraint ATTACH has nothing to read.
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%I >= %L AND %I < %L)',
                   child, child || '_day', col, lower, col, upper);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                   parent, child, lower, upper);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', child, child || '_day');
    RETURN true;
END $$;

-- Drops one UTC day, be it a partition, one whose detaching was interrupted, or one that was detached. A
-- ledger day's sums go into ledger_total in the same transaction. Dropping locks the whole table for an
-- instant, and everybody queues behind the wait for that: so it waits a quarter of a second at most and
-- fails with lock_not_available. Call it in a transaction of its own. False if there is no such day.
CREATE FUNCTION drop_day(parent text, day date) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
    SET lock_timeout = '250ms' AS $$
DECLARE
    whole regclass := day_table(parent);
    child text := parent || '_' || to_char(day, 'YYYYMMDD');
BEGIN
    IF day >= (clock_timestamp() AT TIME ZONE 'UTC')::date - 1 THEN
        RAISE EXCEPTION 'day % of % is too recent to be dropped', day, parent USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('oriel.ensure_day', 0)); -- nobody makes it meanwhile
    IF NOT EXISTS (SELECT FROM pg_class c JOIN pg_class p ON p.relnamespace = c.relnamespace
                   WHERE p.oid = whole AND c.relname = child AND c.relkind = 'r'
                     AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid AND i.inhparent <> whole)) THEN
        RETURN false;
    END IF;
    IF parent = 'ledger' THEN
        EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', child); -- no row comes after the sum
        EXECUTE format('INSERT INTO ledger_total AS t (consumer, log, partition, through_commit, stored, duplicate, dead, skipped, expired)
            SELECT consumer, log, partition, max(commit), sum(stored), sum(duplicate), sum(dead), sum(skipped), sum(expired)
              FROM %I GROUP BY consumer, log, partition ORDER BY consumer, log, partition
            ON CONFLICT (consumer, log, partition) DO UPDATE
               SET through_commit = greatest(t.through_commit, EXCLUDED.through_commit),
                   stored = t.stored + EXCLUDED.stored, duplicate = t.duplicate + EXCLUDED.duplicate,
                   dead = t.dead + EXCLUDED.dead, skipped = t.skipped + EXCLUDED.skipped,
                   expired = t.expired + EXCLUDED.expired', child);
    END IF;
    EXECUTE format('DROP TABLE %I', child);
    RETURN true;
END $$;

-- Moves what waits in the pending list of one day's vocabulary index into the index. Null where there is no
-- such index, or where it is another owner's to clean.
CREATE FUNCTION clean_pending_list(part oid) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN (SELECT gin_clean_pending_list(i.inhrelid)
              FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhrelid = part AND i.inhparent = 'event_lexemes'::regclass AND pg_has_role(c.relowner, 'USAGE'));
END $$;

REVOKE EXECUTE ON FUNCTION day_table, ensure_day, drop_day, clean_pending_list FROM PUBLIC;
DO $$
DECLARE
    f text;
BEGIN
    -- pg_temp last: it would come first otherwise, and its tables are anybody's.
    FOREACH f IN ARRAY ARRAY['day_table', 'ensure_day', 'drop_day', 'clean_pending_list'] LOOP
        EXECUTE format('ALTER FUNCTION %I SET search_path = %I, pg_temp', f, current_schema());
    END LOOP;
END $$;
