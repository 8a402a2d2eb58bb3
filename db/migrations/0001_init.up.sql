-- The data model: the clock (log, checkpoint, ledger), the event row, the lexicon and the rollups.
-- Every index names the query it serves.

-- One incarnation of a topic. A recreated topic is a new log, so a position never means two records.
CREATE TABLE log (
    id         smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic      text NOT NULL,
    topic_id   uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (topic, topic_id)
);

-- The durable progress of a consumer in one partition of one log, and its fencing point.
-- commits counts committed batches and is never lowered; next_offset may be.
CREATE TABLE checkpoint (
    consumer     text NOT NULL,
    log          smallint NOT NULL REFERENCES log (id),
    partition    integer NOT NULL CHECK (partition >= 0),
    next_offset  bigint NOT NULL CHECK (next_offset >= 0),
    leader_epoch integer NOT NULL DEFAULT -1,
    commits      bigint NOT NULL DEFAULT 0 CHECK (commits >= 0),
    owner_epoch  bigint NOT NULL DEFAULT 0,
    owner        text,
    state        text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'gap', 'fatal')),
    state_reason text,
    updated_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer, log, partition)
) WITH (fillfactor = 50);

-- One row per commit: what became of its records. stored + duplicate + dead + skipped + expired
-- is the number of records in [from_offset, to_offset).
CREATE TABLE ledger (
    consumer     text NOT NULL,
    log          smallint NOT NULL,
    partition    integer NOT NULL,
    commit       bigint NOT NULL,
    from_offset  bigint NOT NULL,
    to_offset    bigint NOT NULL,
    stored       integer NOT NULL,
    duplicate    integer NOT NULL,
    dead         integer NOT NULL,
    skipped      integer NOT NULL,
    expired      integer NOT NULL,
    committed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer, log, partition, commit, committed_at)
) PARTITION BY RANGE (committed_at);

-- The sums of ledger days that were dropped.
CREATE TABLE ledger_total (
    consumer       text NOT NULL,
    log            smallint NOT NULL,
    partition      integer NOT NULL,
    through_commit bigint NOT NULL,
    stored         bigint NOT NULL,
    duplicate      bigint NOT NULL,
    dead           bigint NOT NULL,
    skipped        bigint NOT NULL,
    expired        bigint NOT NULL,
    PRIMARY KEY (consumer, log, partition)
);

-- An operator's recorded decision about a consumer's position.
CREATE TABLE consumer_decision (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    consumer  text NOT NULL,
    action    text NOT NULL,
    log       smallint,
    partition integer,
    detail    text NOT NULL,
    reason    text NOT NULL CHECK (reason <> ''),
    actor     text NOT NULL,
    made_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The event. data holds the exact bytes received: NULL is absent, zero length is empty.
-- attributes and headers are flat: (name, type, value) triples, where type is string, boolean or
-- integer, and (key, value) pairs in order.
CREATE TABLE event (
    occurred_at     timestamptz NOT NULL,
    log             smallint NOT NULL,
    partition       integer NOT NULL,
    "offset"        bigint NOT NULL,
    commit          bigint NOT NULL,
    kafka_time      timestamptz NOT NULL,
    digest          bigint NOT NULL,
    erased_at       timestamptz,
    severity        smallint CHECK (severity BETWEEN 1 AND 8),
    flags           smallint NOT NULL DEFAULT 0,
    facets_version  smallint NOT NULL DEFAULT 1,
    source          text NOT NULL,
    id              text NOT NULL,
    type            text NOT NULL,
    subject         text,
    time_text       text NOT NULL,
    dataschema      text,
    datacontenttype text,
    attributes      text[],
    tags            text[],
    facets          text[],
    lexemes         bigint[],
    trace_id        bytea,
    record_key      bytea,
    headers         bytea[],
    data            bytea
) PARTITION BY RANGE (occurred_at);

-- Identity: the insert's ON CONFLICT target, and the event page.
CREATE UNIQUE INDEX event_identity ON event (occurred_at, source, id);
-- Newest first and keyset paging, read backward.
CREATE INDEX event_page ON event (occurred_at, log, partition, "offset");
-- Newest first within one type, source or subject; ties of one microsecond are sorted incrementally.
CREATE INDEX event_type ON event (type, occurred_at);
CREATE INDEX event_source ON event (source, occurred_at);
CREATE INDEX event_subject ON event (subject, occurred_at) WHERE subject IS NOT NULL;
-- Severity >= error, newest first.
CREATE INDEX event_error ON event (occurred_at, log, partition, "offset") WHERE severity >= 6;
-- Words and path=value: lexemes && '{hash, reserved}'.
CREATE INDEX event_lexemes ON event USING gin (lexemes);
-- The tail, block reads and rollup deltas: rows of one partition above a commit.
CREATE INDEX event_commit ON event (log, partition, commit);

-- A record that could not be stored, byte for byte, with the reason.
CREATE TABLE dead_letter (
    consumer     text NOT NULL,
    log          smallint NOT NULL REFERENCES log (id),
    partition    integer NOT NULL,
    "offset"     bigint NOT NULL,
    commit       bigint NOT NULL,
    reason       text NOT NULL,
    detail       text NOT NULL,
    sqlstate     text,
    source       text,
    id           text,
    type         text,
    record_key   bytea,
    record_value bytea,
    headers      bytea[] NOT NULL,
    kafka_time   timestamptz NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer, log, partition, "offset")
);
-- Newest dead letters first.
CREATE INDEX dead_letter_newest ON dead_letter (created_at);

-- Versions of the lexicon: the hash key of each, and whether rows may carry it.
CREATE TABLE lexicon_version (
    version    smallint PRIMARY KEY,
    key        bytea NOT NULL CHECK (octet_length(key) = 16),
    state      text NOT NULL CHECK (state IN ('live', 'retired')),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The vocabulary, for prefixes and completion.
CREATE TABLE term (
    word    text COLLATE "C" NOT NULL,
    version smallint NOT NULL,
    hash    bigint NOT NULL,
    PRIMARY KEY (word, version)
);

-- Paths seen in the data of a type; kinds is a bit set (1 string, 2 number, 4 boolean, 8 null,
-- 16 object, 32 array, 64 empty string).
CREATE TABLE type_path (
    type  text COLLATE "C" NOT NULL,
    path  text COLLATE "C" NOT NULL,
    kinds smallint NOT NULL,
    PRIMARY KEY (type, path)
);

-- Rollups. Keyed by (log, partition) so that each row has one writer. severity 0 is none.
CREATE TABLE rollup_minute (
    bucket    timestamptz NOT NULL,
    log       smallint NOT NULL,
    partition integer NOT NULL,
    severity  smallint NOT NULL,
    n         bigint NOT NULL,
    errors    bigint NOT NULL,
    PRIMARY KEY (bucket, log, partition, severity)
) PARTITION BY RANGE (bucket);

CREATE TABLE rollup_quarter (
    bucket    timestamptz NOT NULL,
    log       smallint NOT NULL,
    partition integer NOT NULL,
    dimension text COLLATE "C" NOT NULL,
    value     text COLLATE "C" NOT NULL,
    n         bigint NOT NULL,
    errors    bigint NOT NULL,
    PRIMARY KEY (bucket, log, partition, dimension, value)
) PARTITION BY RANGE (bucket);

-- Hours over all partitions, exact for the commits in rollup_fold. Beside the dimensions of the quarters
-- there is severity, whose value is the rank in digits (0 is none) and whose sum is the total.
CREATE TABLE rollup_hour (
    bucket    timestamptz NOT NULL,
    dimension text COLLATE "C" NOT NULL,
    value     text COLLATE "C" NOT NULL,
    n         bigint NOT NULL,
    errors    bigint NOT NULL,
    PRIMARY KEY (bucket, dimension, value)
) PARTITION BY RANGE (bucket);

CREATE TABLE rollup_fold (
    log       smallint NOT NULL,
    partition integer NOT NULL,
    commits   bigint NOT NULL,
    PRIMARY KEY (log, partition)
);

-- Secrets are stored as SHA-256; prefix is the first 8 characters after orl_.
CREATE TABLE api_token (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    prefix          text NOT NULL,
    hash            bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    name            text NOT NULL CHECK (name <> ''),
    scopes          text[] NOT NULL,
    source_prefixes text[],
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at      timestamptz,
    last_used_at    timestamptz,
    revoked_at      timestamptz
);

-- Makes the partition of one UTC day, standalone first so that ATTACH takes no long lock: it waits for
-- no reader and no writer, and none waits for it. Safe to call at any time and by many; callers queue
-- for the end of each other's transactions, so call it in one of its own. True if the day is new.
CREATE FUNCTION ensure_day(parent text, day date) RETURNS boolean LANGUAGE plpgsql AS $$
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
