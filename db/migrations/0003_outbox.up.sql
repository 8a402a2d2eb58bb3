-- What has to be said on Kafka about a change commits with the change: whoever makes the change inserts a
-- message here in the same transaction, and relays publish it afterwards. A message that is here and not dead
-- is not known to be published; it is deleted when the broker has acknowledged it. So a crash repeats a
-- message at worst, and readers tell a repeat by the identity of the event inside.

CREATE TABLE outbox (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Of one key at most one message is under way, in the order of seq. Whoever enqueues makes seq grow in the
    -- order of commits, by holding a lock of the key's own: the row of the thing that the key names, or an
    -- advisory one. A message that has no order takes a key of its own and 0.
    order_key       text COLLATE "C" NOT NULL CHECK (octet_length(order_key) BETWEEN 1 AND 2048),
    seq             bigint NOT NULL,
    -- Follows from the key, so that every message of a key is one relay's. The function is the one that hash
    -- partitions rest on, which never changes.
    shard           smallint NOT NULL GENERATED ALWAYS AS ((hashtextextended(order_key, 0) & 31)::smallint) STORED,
    topic           text COLLATE "C" NOT NULL CHECK (topic ~ '^[a-zA-Z0-9._-]{1,249}$' AND topic NOT IN ('.', '..')),
    record_key      bytea,
    headers         bytea[] NOT NULL DEFAULT '{}' CHECK (cardinality(headers) % 2 = 0), -- name, value, name, value
    record_value    bytea,
    smaller_value   bytea, -- published instead where the topic takes no record as large as record_value
    -- While this message is dead, later ones of its key wait for what an operator decides.
    blocks_key      boolean NOT NULL DEFAULT true,
    -- Only failures that the message itself may have caused count; an outage never does.
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    dead            boolean NOT NULL DEFAULT false,
    died_at         timestamptz,
    reason          text,
    detail          text,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK (dead = (died_at IS NOT NULL AND reason IS NOT NULL))
) WITH (
    fillfactor = 80,
    -- Rows live for milliseconds: without this the table is mostly dead rows by the time that the defaults act.
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.05
);
-- The relay's polling (OutboxHeads): the topics of a shard by a loose scan, then the oldest of each.
CREATE INDEX outbox_pending ON outbox (shard, topic, id) WHERE NOT dead;
-- The same query's questions of each message: what of its key comes before it.
CREATE UNIQUE INDEX outbox_key ON outbox (order_key, seq);
-- How many wait for an operator (OutboxState), and which, the newest first.
CREATE INDEX outbox_dead ON outbox (id) WHERE dead;

-- Who publishes what: a relay holds a shard until lease_until and renews that in time. The token grows with
-- every new holder, and whatever a relay writes about a failure names its token.
CREATE TABLE outbox_shard (
    shard       smallint PRIMARY KEY CHECK (shard BETWEEN 0 AND 31),
    owner       text,
    token       bigint NOT NULL DEFAULT 0,
    lease_until timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 30);
INSERT INTO outbox_shard (shard) SELECT generate_series(0, 31);

-- The pause after a failure that no message caused, one for each shard and topic: a topic that is missing
-- delays no other topic, and relays that come back together do not try together.
CREATE TABLE outbox_backoff (
    shard  smallint NOT NULL REFERENCES outbox_shard (shard),
    topic  text COLLATE "C" NOT NULL,
    until  timestamptz NOT NULL,
    fails  integer NOT NULL,
    class  text NOT NULL,
    detail text NOT NULL,
    PRIMARY KEY (shard, topic)
) WITH (fillfactor = 30);

-- The relays that run, so that each takes its share of the shards.
CREATE TABLE outbox_relay (
    name       text PRIMARY KEY,
    seen_until timestamptz NOT NULL
) WITH (fillfactor = 30);
