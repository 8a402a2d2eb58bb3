DROP TABLE audit, sign_in, session;
DROP FUNCTION audit_is_append_only;
ALTER TABLE api_token DROP COLUMN created_by, DROP COLUMN revoked_by;
DROP FUNCTION drop_day, clean_pending_list, day_table;
GRANT EXECUTE ON FUNCTION ensure_day TO PUBLIC;
CREATE OR REPLACE FUNCTION ensure_day(parent text, day date) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    child text := parent || '_' || to_char(day, 'YYYYMMDD');
    col   text;
    lower timestamptz := day::timestamp AT TIME ZONE 'UTC';
    upper timestamptz := (day + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN
    -- The name is looked up in the table, not by a cast: a cast answers from the session's cache, which
    -- does not learn of another session's partition while this transaction waits for the lock.
    IF EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
               WHERE i.inhparent = parent::regclass AND c.relname = child) THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('oriel.ensure_day', 0));
    IF EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
               WHERE i.inhparent = parent::regclass AND c.relname = child) THEN
        RETURN false;
    END IF;
    SELECT a.attname INTO STRICT col
      FROM pg_partitioned_table p
      JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
     WHERE p.partrelid = parent::regclass;
    -- A table of that name that is no partition is a day that retention took away: it comes back with
    -- what is still in it.
    IF NOT EXISTS (SELECT FROM pg_class c JOIN pg_class p ON p.relnamespace = c.relnamespace
                   WHERE p.oid = parent::regclass AND c.relname = child) THEN
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
    END IF;
    -- With the bounds as a constraint ATTACH has nothing to read.
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%I >= %L AND %I < %L)',
                   child, child || '_day', col, lower, col, upper);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                   parent, child, lower, upper);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', child, child || '_day');
    RETURN true;
END $$;
