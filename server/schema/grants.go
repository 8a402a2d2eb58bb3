package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// rights of the two roles on one table; empty is none.
type rights struct{ tables, write, read string }

// The write role owns nothing and changes no table's shape; the ledger and the records of decisions it can
// only add to. The read role reads what searches need, and no secret.
func grantedTables() []rights {
	const all, add, see = "SELECT, INSERT, UPDATE, DELETE", "SELECT, INSERT", "SELECT"
	return []rights{
		{"event, dead_letter, log, checkpoint, term, type_path", all, see},
		{"event_block, block_gap, dimension_value, facet_version", all, see},
		{"rollup_minute, rollup_quarter, rollup_hour, rollup_day, rollup_fold", all, see},
		{"ledger", add, see},
		{"outbox, outbox_backoff, outbox_relay", all, see},
		{"outbox_shard", "SELECT, UPDATE", see}, // there are as many as there are
		{"ledger_total, lexicon_version, schema_migrations", see, see},
		{"api_token, session, sign_in", all, ""},
		{"saved_search, share_link", all, ""},
		{"audit, consumer_decision", add, ""},
	}
}

// grantedFunctions do for the write role what only the owner may.
func grantedFunctions() []string {
	return []string{"ensure_day(text, date)", "drop_day(text, date)", "clean_pending_list(oid)"}
}

// sharedFunctions are for whoever reads or writes events. They do nothing that their caller may not.
func sharedFunctions() []string {
	return []string{"event_dimensions(smallint, text, text, text[], text[], smallint)"}
}

// Grants are the statements that give the write and the read role exactly what they need of this build's
// schema, and take what an older build gave them beyond that. They are for the owner, in one transaction. A
// role that is "" is left out.
func Grants(database, schema, write, read string) []string {
	quote := func(name string) string { return pgx.Identifier{name}.Sanitize() }
	var both, names []string
	for _, role := range []string{write, read} {
		if role != "" {
			both = append(both, quote(role))
		}
	}
	if len(both) == 0 {
		return nil
	}
	roles := strings.Join(both, ", ")
	all, functions, shared := grantedTables(), strings.Join(grantedFunctions(), ", "), strings.Join(sharedFunctions(), ", ")
	for _, t := range all {
		names = append(names, t.tables)
	}
	out := []string{
		"REVOKE CREATE ON SCHEMA " + quote(schema) + " FROM PUBLIC, " + roles,
		"REVOKE ALL ON " + strings.Join(names, ", ") + " FROM PUBLIC, " + roles,
		"REVOKE EXECUTE ON FUNCTION day_table(text), " + functions + ", " + shared + " FROM PUBLIC, " + roles,
		// Everybody has it by default, and temporary tables fill the same disk.
		"REVOKE TEMPORARY ON DATABASE " + quote(database) + " FROM PUBLIC, " + roles,
		"GRANT CONNECT ON DATABASE " + quote(database) + " TO " + roles,
		"GRANT USAGE ON SCHEMA " + quote(schema) + " TO " + roles,
		"GRANT EXECUTE ON FUNCTION " + shared + " TO " + roles,
	}
	if write != "" {
		out = append(out,
			"GRANT TEMPORARY ON DATABASE "+quote(database)+" TO "+quote(write),
			"GRANT EXECUTE ON FUNCTION "+functions+" TO "+quote(write))
		for _, t := range all {
			out = append(out, "GRANT "+t.write+" ON "+t.tables+" TO "+quote(write))
		}
	}
	if read != "" {
		for _, t := range all {
			if t.read != "" {
				out = append(out, "GRANT "+t.read+" ON "+t.tables+" TO "+quote(read))
			}
		}
	}
	return out
}

// Grant applies Grants to the migrated database at url, which must name the owner. It changes nothing where
// it fails, and sessions of the roles that are at work notice nothing.
func Grant(ctx context.Context, url, write, read string) error {
	if write == read && write != "" {
		return fmt.Errorf("the write and the read role are both %q: they must be two", write)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to grant: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing is pending on it
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// With the migrations, which grant nothing, and with other grants: two at once fail on a catalog row.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", lockKey); err != nil {
			return fmt.Errorf("wait for another migration: %w", err)
		}
		var database, schema string
		var owners []string
		if err := tx.QueryRow(ctx, `SELECT current_database(), current_schema(), array_agg(DISTINCT o::text) FROM unnest(ARRAY[
			session_user, current_user, (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'audit'::regclass)]) o`).
			Scan(&database, &schema, &owners); err != nil {
			return fmt.Errorf("read whose tables they are: %w", err)
		}
		for _, role := range []string{write, read} {
			if role == "" {
				continue
			}
			if slices.Contains(owners, role) {
				return fmt.Errorf("%q owns or migrates the tables: it may do everything whatever is granted, so the application needs a role of its own", role)
			}
			if err := roleExists(ctx, tx, role); err != nil {
				return err
			}
		}
		for _, sql := range Grants(database, schema, write, read) {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	})
}

func roleExists(ctx context.Context, tx pgx.Tx, role string) error {
	var super bool
	err := tx.QueryRow(ctx, "SELECT rolsuper FROM pg_roles WHERE rolname = $1", role).Scan(&super)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("there is no role %q: let whoever administers the server run: CREATE ROLE %s LOGIN PASSWORD '…'",
			role, pgx.Identifier{role}.Sanitize())
	case err != nil:
		return fmt.Errorf("look for the role %q: %w", role, err)
	case super:
		return fmt.Errorf("%q is a superuser: it may do everything whatever is granted, so the application needs a role of its own", role)
	}
	return nil
}
