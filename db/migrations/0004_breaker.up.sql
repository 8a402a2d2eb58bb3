-- A partition whose dead letters ran away waits for an operator: tripped.
ALTER TABLE checkpoint DROP CONSTRAINT checkpoint_state_check,
    ADD CONSTRAINT checkpoint_state_check CHECK (state IN ('running', 'gap', 'fatal', 'tripped')),
    -- The highest next_offset there was. Records below it were met before: their identities are looked up
    -- before anything else is done with them.
    ADD COLUMN high_offset bigint NOT NULL DEFAULT 0;
UPDATE checkpoint SET high_offset = next_offset;

-- An operator may skip more records than an integer holds.
ALTER TABLE ledger ALTER COLUMN skipped TYPE bigint;
