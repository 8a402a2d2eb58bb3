DROP FUNCTION ensure_day;
DROP TABLE api_token, rollup_fold, rollup_hour, rollup_quarter, rollup_minute, type_path, term,
    lexicon_version, dead_letter, event, consumer_decision, ledger_total, ledger, checkpoint, log;
