ALTER TABLE ledger ALTER COLUMN skipped TYPE integer;
UPDATE checkpoint SET state = 'fatal' WHERE state = 'tripped';
ALTER TABLE checkpoint DROP COLUMN high_offset, DROP CONSTRAINT checkpoint_state_check,
    ADD CONSTRAINT checkpoint_state_check CHECK (state IN ('running', 'gap', 'fatal'));
