CREATE OR REPLACE FUNCTION day_table(parent text) RETURNS regclass LANGUAGE plpgsql AS $$
BEGIN
    IF parent IN ('event', 'ledger', 'rollup_minute', 'rollup_quarter', 'rollup_hour') THEN
        RETURN parent::regclass;
    END IF;
    RAISE EXCEPTION 'no table of days: %', parent USING ERRCODE = 'undefined_table';
END $$;
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION day_table SET search_path = %I, pg_temp', current_schema());
END $$;
DROP INDEX ledger_arrival, type_path_path;
ALTER TABLE checkpoint DROP COLUMN blocks;
DROP TABLE share_link, saved_search, dimension_value, block_gap, event_block;
