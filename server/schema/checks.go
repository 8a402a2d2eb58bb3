package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// wayOut ends every refusal of a role.
const wayOut = `see "Database roles" in docs/operations.md, and ` + "`oriel migrate --write-role NAME --read-role NAME`"

// auditPowers finds what lets the session's role, or any role that it may become, change what is in the
// record or keep entries out of it. The worst first.
const auditPowers = `
WITH may AS (SELECT r.*, r.rolname = session_user AS self FROM pg_roles r WHERE pg_has_role(session_user, r.oid, 'MEMBER'))
SELECT session_user::text, rolname::text, power FROM (
	SELECT 1 AS rank, self, rolname, 'is a superuser' AS power FROM may WHERE rolsuper
	UNION ALL
	SELECT 2, self, rolname, 'owns ' || what
	  FROM may JOIN (
		SELECT relowner AS owner, 'the table audit' AS what FROM pg_class WHERE oid = 'audit'::regclass
		UNION ALL SELECT p.proowner, 'the function of the trigger of audit'
		  FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE t.tgrelid = 'audit'::regclass
		UNION ALL SELECT n.nspowner, 'the schema of audit'
		  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = 'audit'::regclass
		UNION ALL SELECT datdba, 'the database' FROM pg_database WHERE datname = current_database()
	  ) o ON o.owner = may.oid
	UNION ALL
	SELECT 3, self, rolname, 'has ' || p || ' on audit'
	  FROM may, unnest(ARRAY['UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) p
	 WHERE CASE WHEN p = 'UPDATE' THEN has_any_column_privilege(may.oid, 'audit'::regclass, p)
	            ELSE has_table_privilege(may.oid, 'audit'::regclass, p) END
	UNION ALL
	SELECT 4, self, rolname, 'may turn triggers off (session_replication_role)'
	  FROM may WHERE has_parameter_privilege(may.oid, 'session_replication_role', 'SET')
	UNION ALL
	SELECT 5, self, rolname, 'may give itself other roles (CREATEROLE)' FROM may WHERE rolcreaterole
	UNION ALL
	SELECT 6, self, rolname, 'may act as the server''s own user'
	  FROM may WHERE rolname IN ('pg_execute_server_program', 'pg_write_server_files')
) x ORDER BY rank, NOT self, rolname, power LIMIT 1`

// CheckAudit refuses a role that could change the record of who did what, or keep entries out of it: only
// then is the record worth something against the application itself. It also refuses a role that was not
// given what the application needs.
func CheckAudit(ctx context.Context, pool *pgxpool.Pool) error {
	power, err := powerOf(ctx, pool, auditPowers)
	if err != nil {
		return fmt.Errorf("read what the database role may do to audit: %w", err)
	}
	if power != "" {
		return fmt.Errorf("ORIEL_DATABASE_URL: %s, so the application could rewrite the record of who did what; it needs a role that can only add to it: %s",
			power, wayOut)
	}
	if err := checkTrigger(ctx, pool); err != nil {
		return err
	}
	return lacks(ctx, pool, "ORIEL_DATABASE_URL", func(r rights) string { return r.write }, true)
}

// What 0002_people.up.sql makes of the trigger of audit.
const (
	triggerBody = "BEGIN RAISE EXCEPTION 'audit is append-only' USING ERRCODE = 'insufficient_privilege'; END"

	// BEFORE UPDATE OR DELETE OR TRUNCATE, for each statement: bits of pg_trigger.tgtype.
	triggerType = 1<<1 | 1<<4 | 1<<3 | 1<<5
)

// checkTrigger refuses a record that its owner could change by accident.
func checkTrigger(ctx context.Context, pool *pgxpool.Pool) error {
	var wrong string
	err := pool.QueryRow(ctx, `
		SELECT coalesce((
			SELECT CASE WHEN t.tgenabled NOT IN ('O', 'A') THEN 'disabled: ALTER TABLE audit ENABLE TRIGGER audit_append_only'
			            WHEN t.tgtype <> $1 OR t.tgqual IS NOT NULL OR t.tgattr <> '' OR l.lanname <> 'plpgsql'
			              OR btrim(regexp_replace(p.prosrc, '\s+', ' ', 'g')) <> $2
			            THEN 'not the one of the migrations: make it and its function again, as in db/migrations/0002_people.up.sql'
			            ELSE '' END
			  FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_language l ON l.oid = p.prolang
			 WHERE t.tgrelid = 'audit'::regclass AND t.tgname = 'audit_append_only'
		), 'missing: make it again, as in db/migrations/0002_people.up.sql')`, triggerType, triggerBody).Scan(&wrong)
	if err != nil {
		return fmt.Errorf("look at the trigger of audit: %w", err)
	}
	if wrong != "" {
		return fmt.Errorf("ORIEL_DATABASE_URL: the trigger audit_append_only, without which the record of who did what can be rewritten, is %s. See %s",
			wrong, `"Database roles" in docs/operations.md`)
	}
	return nil
}

// writePowers finds what lets the session's role, or any that it may become, write to a table of ours.
const writePowers = `
WITH may AS (SELECT r.*, r.rolname = session_user AS self FROM pg_roles r WHERE pg_has_role(session_user, r.oid, 'MEMBER'))
SELECT session_user::text, rolname::text, power FROM (
	SELECT 1 AS rank, self, rolname, 'is a superuser' AS power FROM may WHERE rolsuper
	UNION ALL
	SELECT 2, self, rolname, 'may create tables beside ours' FROM may WHERE has_schema_privilege(may.oid, current_schema(), 'CREATE')
	UNION ALL
	SELECT 3, self, rolname, CASE WHEN c.relowner = may.oid THEN 'owns ' ELSE 'has ' || p || ' on ' END || c.relname
	  FROM may, pg_class c, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) p
	 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
	   AND (c.relowner = may.oid OR
	        CASE WHEN p IN ('INSERT', 'UPDATE') THEN has_any_column_privilege(may.oid, c.oid, p)
	             ELSE has_table_privilege(may.oid, c.oid, p) END)
) x ORDER BY rank, NOT self, rolname, power LIMIT 1`

// excessReads finds what lets the session's role, or any that it may become, read a table that is kept from
// the role that reads. A role that it is a member of comes first: there lies the way out.
const excessReads = `
WITH may AS (SELECT r.*, r.rolname = session_user AS self FROM pg_roles r WHERE pg_has_role(session_user, r.oid, 'MEMBER'))
SELECT session_user::text, rolname::text, 'may SELECT ' || name || ', which searches do not need: ' ||
       CASE WHEN self THEN format('REVOKE ALL ON %I FROM PUBLIC, %I', name, session_user)
            ELSE format('REVOKE %I FROM %I', rolname, session_user) END
  FROM may, unnest($1::text[]) name WHERE has_any_column_privilege(may.oid, name, 'SELECT')
 ORDER BY self, rolname, name LIMIT 1`

// CheckReader refuses a role for reading that could write to any table of ours, could read secrets or cannot
// read what searches need.
func CheckReader(ctx context.Context, pool *pgxpool.Pool) error {
	power, err := powerOf(ctx, pool, writePowers)
	if err != nil {
		return fmt.Errorf("read what the database role for reading may do: %w", err)
	}
	if power != "" {
		return fmt.Errorf("ORIEL_DATABASE_READ_URL: %s, and searches need a role that can only read: %s", power, wayOut)
	}
	var kept []string
	for _, r := range grantedTables() {
		if r.read == "" {
			kept = append(kept, strings.Split(r.tables, ", ")...)
		}
	}
	if power, err = powerOf(ctx, pool, excessReads, kept); err != nil {
		return fmt.Errorf("read what the database role for reading may read: %w", err)
	}
	if power != "" {
		return fmt.Errorf("ORIEL_DATABASE_READ_URL: %s; %s", power, wayOut)
	}
	return lacks(ctx, pool, "ORIEL_DATABASE_READ_URL", func(r rights) string { return r.read }, false)
}

// lacks refuses a role that was not given what this build needs, such as before the grants of an upgrade.
func lacks(ctx context.Context, pool *pgxpool.Pool, variable string, of func(rights) string, functions bool) error {
	var tables, privileges []string
	calls := sharedFunctions()
	for _, r := range grantedTables() {
		for table := range strings.SplitSeq(r.tables, ", ") {
			tables, privileges = append(tables, table), append(privileges, of(r))
		}
	}
	if functions {
		calls = append(calls, grantedFunctions()...)
	}
	var role, missing string
	err := pool.QueryRow(ctx, `
		SELECT current_user::text, what FROM (
			SELECT p || ' on ' || name AS what
			  FROM unnest($1::text[], $2::text[]) AS t (name, privileges), unnest(string_to_array(privileges, ', ')) p
			 WHERE NOT has_table_privilege(name, p)
			UNION ALL
			SELECT 'EXECUTE on ' || f FROM unnest($3::text[]) f WHERE NOT has_function_privilege(f, 'EXECUTE')
			UNION ALL
			SELECT 'TEMPORARY on the database' WHERE $4 AND NOT has_database_privilege(current_database(), 'TEMPORARY')
		) x ORDER BY what LIMIT 1`, tables, privileges, calls, functions).Scan(&role, &missing)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("read what the database role may do: %w", err)
	}
	return fmt.Errorf("%s: the role %q has no %s: %s", variable, role, missing, wayOut)
}

// powerOf is the first power that a query finds, as the beginning of a sentence; "" where it finds none.
func powerOf(ctx context.Context, pool *pgxpool.Pool, query string, args ...any) (string, error) {
	var session, role, power string
	err := pool.QueryRow(ctx, query, args...).Scan(&session, &role, &power)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", nil
	case err != nil:
		return "", err
	case role == session:
		return fmt.Sprintf("the role %q %s", session, power), nil
	}
	return fmt.Sprintf("the role %q is a member of %q, which %s", session, role, power), nil
}
