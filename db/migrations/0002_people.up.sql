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
CREATE INDEX session_person_idx ON session (issuer, subject); -- sign out everywhere
CREATE INDEX session_expiry_idx ON session (expires_at);      -- the sweep

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
    actor_id   text NOT NULL,
    roles      text[] NOT NULL, -- of a person; of a machine, its scopes
    target     text COLLATE "C" NOT NULL DEFAULT '',
    reason     text NOT NULL DEFAULT '',
    detail     text NOT NULL DEFAULT '', -- why it was refused or failed
    request_id text NOT NULL DEFAULT '',
    address    text NOT NULL DEFAULT '',
    before     jsonb,
    after      jsonb,
    -- What a search by text looks in: actor, action, target, reason, detail and request id in lower case. The
    -- program folds them: what lower() knows depends on the database's locale.
    folded     text COLLATE "C" NOT NULL DEFAULT '',
    CHECK ((phase = 'intent') = (outcome IS NULL))
);
CREATE UNIQUE INDEX audit_outcome_idx ON audit (operation) WHERE phase = 'outcome'; -- an operation's end, once
CREATE UNIQUE INDEX audit_begin_idx ON audit (operation) WHERE phase <> 'outcome';  -- and its beginning
CREATE INDEX audit_action_idx ON audit (action, id DESC); -- the page's filter by action
CREATE INDEX audit_actor_idx ON audit (actor, id DESC);   -- and by who
CREATE INDEX audit_target_idx ON audit (target, id DESC); -- what was done to one thing

-- Grants keep the application from changing what is there; this keeps the owner from doing it by accident.
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
