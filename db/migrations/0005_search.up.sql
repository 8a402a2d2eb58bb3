-- What searches need beside the events: the index of identifiers, values for completion, and what people keep.

-- Which rows of some neighbouring commits of a partition hold which identifiers (package block has the layout).
-- A batch writes a block of its own for each day that it touches; maintenance merges neighbours.
CREATE TABLE event_block (
    day            timestamptz NOT NULL, -- the start of the UTC day that all its rows occurred on
    log            smallint NOT NULL,
    partition      integer NOT NULL,
    from_commit    bigint NOT NULL,
    through_commit bigint NOT NULL,
    version        smallint NOT NULL, -- of the lexicon
    rows           integer NOT NULL,
    entries        integer NOT NULL, -- pairs of a row and a key
    buckets        integer NOT NULL,
    base_offset    bigint NOT NULL, -- the lowest
    last_offset    bigint NOT NULL, -- the highest
    keys           bytea NOT NULL,
    lists          bytea NOT NULL,
    places         bytea NOT NULL,
    made_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (day, log, partition, version, from_commit)
) PARTITION BY RANGE (day);
-- Probes read a few bytes of each: out of line, not compressed, so that a part can be read alone.
ALTER TABLE event_block ALTER COLUMN keys SET STORAGE EXTERNAL, ALTER COLUMN lists SET STORAGE EXTERNAL,
    ALTER COLUMN places SET STORAGE EXTERNAL;

-- The last commit by a build that writes blocks. Where an owner finds it behind, a build that writes none has
-- been at work since, as happens while replicas are exchanged one by one: then block_gap grows.
ALTER TABLE checkpoint ADD COLUMN blocks bigint NOT NULL DEFAULT 0;
UPDATE checkpoint SET blocks = commits; -- no consumer commits from here on until this transaction does

-- Commits whose rows have no block: those of builds that wrote none. Reindexing removes these rows; until then
-- identifiers of them are found by reading events.
CREATE TABLE block_gap (
    log            smallint NOT NULL,
    partition      integer NOT NULL,
    through_commit bigint NOT NULL,
    PRIMARY KEY (log, partition)
);
INSERT INTO block_gap (log, partition, through_commit)
SELECT log, partition, commits FROM checkpoint WHERE consumer = 'store' AND commits > 0;

-- Values for completion: of type, source, subject, every facet, and the names of extensions (dimension
-- 'extension'). At most 100,000 of a dimension, the first that were seen.
CREATE TABLE dimension_value (
    dimension text COLLATE "C" NOT NULL,
    value     text COLLATE "C" NOT NULL,
    PRIMARY KEY (dimension, value)
);

-- The tables of days, now with event_block.
CREATE OR REPLACE FUNCTION day_table(parent text) RETURNS regclass LANGUAGE plpgsql AS $$
BEGIN
    IF parent IN ('event', 'event_block', 'ledger', 'rollup_minute', 'rollup_quarter', 'rollup_hour') THEN
        RETURN parent::regclass;
    END IF;
    RAISE EXCEPTION 'no table of days: %', parent USING ERRCODE = 'undefined_table';
END $$;
DO $$
BEGIN
    -- Replacing it has lost it. pg_temp last: its tables are anybody's.
    EXECUTE format('ALTER FUNCTION day_table SET search_path = %I, pg_temp', current_schema());
END $$;

-- A search that a person keeps. params are the canonical URL parameters; view is what the page shows beside
-- it (columns, density), as the page wrote it.
CREATE TABLE saved_search (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner      text NOT NULL, -- the person's subject
    owner_name text NOT NULL,
    name       text NOT NULL CHECK (name <> '' AND length(name) <= 200),
    shared     boolean NOT NULL DEFAULT false,
    params     text NOT NULL CHECK (octet_length(params) <= 65536),
    view       text NOT NULL DEFAULT '' CHECK (octet_length(view) <= 16384),
    version    bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (owner, name)
);
CREATE INDEX saved_search_shared ON saved_search (name) WHERE shared;

-- A long filter under a short name. The same parameters have the same slug.
CREATE TABLE share_link (
    slug       text PRIMARY KEY,
    params     text NOT NULL CHECK (octet_length(params) <= 65536),
    created_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    used_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- How many somebody has, and which nobody has opened for long.
CREATE INDEX share_link_creator ON share_link (created_by);
CREATE INDEX share_link_used ON share_link (used_at);

-- Bounds of arrival: what a partition had stored before an instant (CommitsBefore).
CREATE INDEX ledger_arrival ON ledger (consumer, log, partition, committed_at);
-- The types that have a path (TypesOfPath).
CREATE INDEX type_path_path ON type_path (path, type);
