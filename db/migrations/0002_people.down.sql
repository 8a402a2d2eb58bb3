DROP TABLE audit, sign_in, session;
DROP FUNCTION audit_is_append_only;
ALTER TABLE api_token DROP COLUMN created_by, DROP COLUMN revoked_by;
