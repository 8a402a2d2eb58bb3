package schema_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/dbtest"
	"oriel/server/schema"
)

const forbidden = "42501"

// code is the SQLSTATE of an error, "" of none.
func code(err error) string {
	refused := (*pgconn.PgError)(nil)
	if errors.As(err, &refused) {
		return refused.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// tables are all of the schema that are no partition.
func tables(t *testing.T, pool *pgxpool.Pool) (names []string) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), `SELECT array_agg(relname::text ORDER BY relname) FROM pg_class
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`).Scan(&names); err != nil {
		t.Fatal(err)
	}
	return names
}

func TestTheReadRoleCanWriteNothingAndReadNoSecret(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	url := dbtest.NewURL(t)
	owner, reader := dbtest.Open(t, url), dbtest.Open(t, dbtest.ReadURL(t, url))
	// What a session sets for itself is no protection.
	setting := "SET default_transaction_read_only = off; "
	partition := "event_" + time.Now().UTC().Format("20060102")
	for _, table := range append(tables(t, owner), partition) {
		var column string
		if err := owner.QueryRow(ctx, "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum = 1", table).Scan(&column); err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{
			"INSERT INTO " + table + " DEFAULT VALUES", "UPDATE " + table + " SET " + column + " = DEFAULT", "DELETE FROM " + table,
			"TRUNCATE " + table, "ALTER TABLE " + table + " ADD x int", "CREATE INDEX ON " + table + " (" + column + ")",
			"DROP TABLE " + table, "LOCK TABLE " + table + " IN EXCLUSIVE MODE",
			"SELECT FROM " + table + " FOR UPDATE",
		} {
			if _, err := reader.Exec(ctx, setting+sql); code(err) != forbidden {
				t.Errorf("%s: %v", sql, err)
			}
		}
		secret := slices.Contains([]string{"api_token", "session", "sign_in", "saved_search", "share_link", "audit", "consumer_decision", partition}, table)
		if _, err := reader.Exec(ctx, "SELECT count(*) FROM "+table); (code(err) == forbidden) != secret || (err == nil) == secret {
			t.Errorf("reading %s: %v", table, err)
		}
	}
	for _, sql := range []string{
		"CREATE TABLE mine (x int)", "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "CREATE SCHEMA mine",
		"SELECT ensure_day('event', '2040-01-01')", "SELECT drop_day('event', '2020-01-01')", "SELECT clean_pending_list(1)",
		"SELECT day_table('event')", "SELECT setval('audit_id_seq', 1)", "SELECT nextval('api_token_id_seq')",
	} {
		if _, err := reader.Exec(ctx, setting+sql); code(err) != forbidden {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestTheWriteRoleAddsToTheRecordAndChangesNothingOfIt(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	url := dbtest.NewURL(t)
	writer := dbtest.Open(t, dbtest.AppURL(t, url))
	const entry = `INSERT INTO audit (operation, phase, action, outcome, actor_kind, actor, actor_id, roles)
		VALUES (gen_random_uuid(), 'event', 'token.create', 'done', 'cli', 'ada', 'ada', '{}')`
	if _, err := writer.Exec(ctx, entry); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Exec(ctx, `INSERT INTO consumer_decision (consumer, action, detail, reason, actor) VALUES ('store', 'x', '', 'why', 'me')`); err != nil {
		t.Fatal(err)
	}
	// It has nothing to give: the server warns and grants nothing.
	if _, err := writer.Exec(ctx, "GRANT UPDATE, DELETE, TRUNCATE ON audit TO CURRENT_USER"); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"UPDATE audit SET detail = 'x'", "DELETE FROM audit", "TRUNCATE audit", "DROP TABLE audit", "ALTER TABLE audit DISABLE TRIGGER ALL",
		"ALTER TABLE audit RENAME TO record", "ALTER TABLE audit OWNER TO CURRENT_USER", "DROP TRIGGER audit_append_only ON audit",
		"CREATE TRIGGER mine BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()",
		"CREATE RULE mine AS ON INSERT TO audit DO INSTEAD NOTHING", "SET session_replication_role = replica",
		"MERGE INTO audit a USING (SELECT 1) x ON true WHEN MATCHED THEN DELETE", "SELECT FROM audit FOR UPDATE",
		"CREATE OR REPLACE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
		"INSERT INTO audit OVERRIDING SYSTEM VALUE SELECT * FROM audit ON CONFLICT (id) DO UPDATE SET detail = 'x'", "SELECT setval('audit_id_seq', 1)",
		"COPY audit TO PROGRAM 'cat'",
		"UPDATE consumer_decision SET reason = 'x'", "DELETE FROM consumer_decision", "TRUNCATE consumer_decision",
		"UPDATE ledger SET stored = 0", "DELETE FROM ledger", "UPDATE ledger_total SET stored = 0", "INSERT INTO ledger_total SELECT FROM ledger_total",
		"UPDATE lexicon_version SET state = 'retired'", "UPDATE schema_migrations SET version = 1", "TRUNCATE event", "DROP TABLE event",
		"CREATE TABLE mine (x int)", "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "CREATE SCHEMA mine",
		"CREATE TABLE event_20400101 PARTITION OF event FOR VALUES FROM ('2040-01-01') TO ('2040-01-02')", "SELECT day_table('event')",
		"CREATE VIEW mine AS SELECT 1", "CREATE OPERATOR = (LEFTARG = text, RIGHTARG = regclass, FUNCTION = texteq)",
	} {
		if _, err := writer.Exec(ctx, sql); code(err) != forbidden {
			t.Errorf("%s: %v", sql, err)
		}
	}
	var n int
	if err := writer.QueryRow(ctx, "SELECT count(*) FROM audit WHERE detail = ''").Scan(&n); err != nil || n != 1 {
		t.Errorf("the record has %d entries of 1: %v", n, err)
	}
}

// A table that a later migration adds must be given to a role, or kept from it, by a decision.
func TestEveryTableAndFunctionIsInTheGrants(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	all := strings.Join(schema.Grants("d", "s", "w", "r"), ";\n")
	words := strings.FieldsFunc(all, func(r rune) bool { return strings.ContainsRune(" ,;()\n", r) })
	for _, table := range tables(t, pool) {
		if !slices.Contains(words, table) {
			t.Errorf("nobody decided who may use %s", table)
		}
	}
	rows, err := pool.Query(t.Context(), `SELECT proname, prosecdef, has_function_privilege('pg_monitor', oid, 'EXECUTE') AND prorettype <> 'trigger'::regtype,
		coalesce((SELECT s FROM unnest(proconfig) s WHERE s LIKE 'search_path=%'), '')
		FROM pg_proc WHERE pronamespace = 'public'::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	definers := 0
	var name, path string
	var definer, public bool
	for rows.Next() {
		if err := rows.Scan(&name, &definer, &public, &path); err != nil {
			t.Fatal(err)
		}
		if public {
			t.Errorf("anybody may call %s", name)
		}
		if !definer {
			continue
		}
		definers++
		if path != "search_path=public, pg_temp" {
			t.Errorf("%s runs as its owner and looks for names in %q", name, path)
		}
		if !slices.Contains(words, name) {
			t.Errorf("nobody decided who may call %s", name)
		}
	}
	if rows.Err() != nil || definers != 3 {
		t.Errorf("%d functions of the owner: %v", definers, rows.Err())
	}
}

func TestGrantsAreSetRightHoweverOftenAndByHowManyTheyAreApplied(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	url := dbtest.NewURL(t)
	admin := dbtest.Open(t, url)
	write, writeURL := dbtest.NewRole(t, url)
	read, readURL := dbtest.NewRole(t, url)
	for _, sql := range []string{ // what an older build or a hurried administrator gave
		"GRANT CREATE ON SCHEMA public TO PUBLIC, " + read, "GRANT ALL ON audit, event, session TO " + read + ", " + write,
		"GRANT SELECT ON api_token TO PUBLIC", "GRANT EXECUTE ON FUNCTION drop_day TO PUBLIC",
		"REVOKE CONNECT ON DATABASE " + admin.Config().ConnConfig.Database + " FROM PUBLIC",
		"GRANT TEMPORARY ON DATABASE " + admin.Config().ConnConfig.Database + " TO " + read,
	} {
		if _, err := admin.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := schema.Grant(ctx, dbtest.OwnerURL(t, url), write, read); err != nil {
				t.Errorf("a concurrent grant: %v", err)
			}
		})
	}
	all.Wait()
	writer, reader := dbtest.Open(t, writeURL), dbtest.Open(t, readURL)
	if err := schema.CheckAudit(ctx, writer); err != nil {
		t.Error(err)
	}
	if err := schema.CheckReader(ctx, reader); err != nil {
		t.Error(err)
	}
	for pool, statements := range map[*pgxpool.Pool][]string{
		writer: {"DELETE FROM audit", "CREATE TABLE mine (x int)"},
		reader: {"DELETE FROM event", "SELECT FROM session", "SELECT FROM api_token", "SELECT drop_day('event', '2020-01-01')", "CREATE TABLE mine (x int)", "CREATE TEMP TABLE mine (x int)"},
	} {
		for _, sql := range statements {
			if _, err := pool.Exec(ctx, sql); code(err) != forbidden {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
	// One that lost something, as after an upgrade whose grants nobody applied.
	if _, err := admin.Exec(ctx, "REVOKE UPDATE ON event FROM "+write+"; REVOKE SELECT ON term FROM "+read); err != nil {
		t.Fatal(err)
	}
	if err := schema.CheckAudit(ctx, writer); err == nil || !strings.Contains(err.Error(), "has no UPDATE on event") {
		t.Errorf("a write role without UPDATE on event: %v", err)
	}
	if err := schema.CheckReader(ctx, reader); err == nil || !strings.Contains(err.Error(), "has no SELECT on term") {
		t.Errorf("a read role without SELECT on term: %v", err)
	}
	// Each alone.
	if err := schema.Grant(ctx, dbtest.OwnerURL(t, url), write, ""); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(schema.CheckAudit(ctx, writer), schema.CheckReader(ctx, reader)); err == nil || strings.Contains(err.Error(), "UPDATE on event") {
		t.Errorf("after the grants of the write role alone: %v", err)
	}
	if err := schema.Grant(ctx, dbtest.OwnerURL(t, url), "", read); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(schema.CheckAudit(ctx, writer), schema.CheckReader(ctx, reader)); err != nil {
		t.Error(err)
	}
}

func TestRolesThatCannotBeGrantedToAreRefusedWithTheWayOut(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	url := dbtest.NewURL(t)
	owner := dbtest.OwnerURL(t, url)
	role, _ := dbtest.NewRole(t, url)
	for name, c := range map[string]struct{ write, read, want string }{
		"none of the name":  {role, `no "body`, `CREATE ROLE "no ""body" LOGIN PASSWORD`},
		"one for both":      {role, role, "must be two"},
		"the owner":         {"oriel_test_owner", role, "a role of its own"},
		"a superuser":       {role, "postgres", "superuser"},
		"a reserved word":   {"public", role, `there is no role "public"`},
		"one with a quote;": {`x"; DROP TABLE audit; --`, role, "there is no role"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := schema.Grant(ctx, owner, c.write, c.read); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	// A refusal halfway leaves nothing.
	var any bool
	if err := dbtest.Open(t, url).QueryRow(ctx, "SELECT has_table_privilege($1, 'event', 'INSERT')", role).Scan(&any); err != nil || any {
		t.Errorf("something was granted: %v %v", any, err)
	}
}

func TestTheGrantsOfTheDocumentAreThoseThatAreApplied(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(raw), "\n## Database roles\n")
	if !found {
		t.Fatal("docs/operations.md has no section Database roles")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var got []string
	for block := range strings.SplitSeq(section, "```sql\n") {
		block, _, _ = strings.Cut(block, "```")
		for statement := range strings.SplitSeq(block, ";") {
			if s := strings.Join(strings.Fields(statement), " "); strings.HasPrefix(s, "GRANT") || strings.HasPrefix(s, "REVOKE") {
				got = append(got, s)
			}
		}
	}
	want := schema.Grants("oriel", "public", "oriel_write", "oriel_read")
	if !slices.Equal(got, want) {
		t.Errorf("the document has\n%s\n\nwant\n%s", strings.Join(got, ";\n"), strings.Join(want, ";\n"))
	}
}

// A name in the caller's own temporary schema must never be taken for one of ours.
func TestTheOwnersFunctionsAreNotTricked(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	url := dbtest.NewURL(t)
	admin := dbtest.Open(t, url)
	old := time.Date(2020, 1, 2, 12, 0, 0, 0, time.UTC)
	if err := schema.EnsureDays(ctx, admin, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(ctx, inserts()[1], old); err != nil {
		t.Fatal(err)
	}
	conn, err := dbtest.Open(t, dbtest.AppURL(t, url)).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, sql := range []string{
		"CREATE TEMP TABLE event (occurred_at timestamptz) PARTITION BY RANGE (occurred_at)",
		"CREATE TEMP TABLE ledger_20200102 (LIKE ledger)", "CREATE TEMP TABLE event_20400101 (LIKE public.event)",
		"CREATE TEMP TABLE ledger_total (LIKE public.ledger_total)", "CREATE TEMP TABLE pg_class (oid oid, relname name)",
		"CREATE FUNCTION pg_temp.day_table(text) RETURNS regclass LANGUAGE sql AS 'SELECT ''audit''::regclass'",
		"CREATE FUNCTION pg_temp.to_char(date, text) RETURNS text LANGUAGE sql AS 'SELECT ''x; DROP TABLE audit''::text'",
		"CREATE FUNCTION pg_temp.gin_clean_pending_list(regclass) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE ''tricked''; END'",
		"SET search_path = pg_temp, public, pg_catalog",
		"SELECT public.ensure_day('event', '2040-01-01')",
		"SELECT public.drop_day('ledger', '2020-01-02')",
		"SELECT public.clean_pending_list('public.event_lexemes'::regclass)",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for what, sql := range map[string]string{
		"the day is one of the real table":   "SELECT count(*) FROM pg_inherits WHERE inhparent = 'public.event'::regclass AND inhrelid = 'public.event_20400101'::regclass",
		"the real day was summed":            "SELECT count(*) FROM public.ledger_total WHERE stored = 1",
		"and is gone":                        "SELECT count(*) FROM (SELECT) x WHERE to_regclass('public.ledger_20200102') IS NULL",
		"audit is there":                     "SELECT count(*) FROM (SELECT) x WHERE to_regclass('public.audit') IS NOT NULL",
		"the caller's own tables are intact": "SELECT count(*) FROM (SELECT) x WHERE EXISTS (SELECT FROM pg_catalog.pg_class WHERE relname = 'ledger_20200102' AND relpersistence = 't')",
	} {
		var n int
		if err := admin.QueryRow(ctx, sql).Scan(&n); err != nil || n != 1 {
			t.Errorf("%s: %d, %v", what, n, err)
		}
	}
	// Names that are none of ours, and days that are not over.
	for sql, want := range map[string]string{
		"SELECT public.ensure_day('audit', '2040-01-01')":                       "42P01",
		"SELECT public.ensure_day('pg_temp.event', '2040-01-01')":               "42P01",
		"SELECT public.ensure_day('event; DROP TABLE audit', '2040-01-01')":     "42P01",
		"SELECT public.ensure_day(NULL, '2040-01-01')":                          "42P01",
		"SELECT public.drop_day('audit', '2020-01-01')":                         "42P01",
		"SELECT public.drop_day('session', '2020-01-01')":                       "42P01",
		"SELECT public.drop_day('event', now()::date)":                          "22023",
		"SELECT public.drop_day('event', (now() AT TIME ZONE 'UTC')::date - 1)": "22023",
		"SELECT public.drop_day('event', NULL)":                                 "",
		"SELECT public.drop_day('event', '2020-01-01')":                         "", // there is none
		"SELECT public.clean_pending_list('audit_pkey'::regclass)":              "",
	} {
		if _, err := conn.Exec(ctx, sql); code(err) != want {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
}

// The functions know the same tables of days as the program does.
func TestEveryPartitionedTableHasItsDaysMadeAndDropped(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	url := dbtest.NewURL(t)
	app := dbtest.Open(t, dbtest.AppURL(t, url))
	var partitioned []string
	if err := app.QueryRow(ctx, "SELECT array_agg(relname::text) FROM pg_class WHERE relkind = 'p' AND relnamespace = 'public'::regnamespace").Scan(&partitioned); err != nil {
		t.Fatal(err)
	}
	want := schema.DayTables()
	slices.Sort(partitioned)
	slices.Sort(want)
	if !slices.Equal(partitioned, want) {
		t.Fatalf("partitioned are %v, and tables of days %v", partitioned, want)
	}
	for _, table := range partitioned {
		for _, f := range []string{"ensure_day", "drop_day"} {
			for _, want := range []bool{true, false} {
				var did bool
				if err := app.QueryRow(ctx, fmt.Sprintf("SELECT %s($1, '2020-01-01')", f), table).Scan(&did); err != nil || did != want {
					t.Errorf("%s of %s says %v, %v", f, table, did, err)
				}
			}
		}
	}
}

func TestAnOlderDatabaseIsBroughtUpWithItsRows(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	url := dbtest.NewEmptyURL(t)
	owner := dbtest.Open(t, dbtest.OwnerURL(t, url))
	first, err := os.ReadFile("../../db/migrations/0001_init.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	before := append([]string{
		string(first), "CREATE TABLE schema_migrations (version bigint NOT NULL PRIMARY KEY, dirty boolean NOT NULL)",
		"INSERT INTO schema_migrations VALUES (1, false)",
		`INSERT INTO lexicon_version (version, key, state) VALUES (1, '\x000102030405060708090a0b0c0d0e0f', 'live')`,
		`INSERT INTO api_token (prefix, hash, name, scopes) VALUES ('12345678', sha256('x'), 'shop', '{events:write}')`,
	}, "")
	tables := slices.DeleteFunc(schema.DayTables(), func(table string) bool { return table == "event_block" }) // came later
	for _, table := range tables {
		before = append(before, fmt.Sprintf("SELECT ensure_day('%s', '2026-03-04')", table), fmt.Sprintf("SELECT ensure_day('%s', '2026-03-05')", table))
	}
	for _, sql := range before {
		if _, err := owner.Exec(ctx, sql); err != nil {
			t.Fatalf("%.60s: %v", sql, err)
		}
	}
	for _, sql := range inserts() {
		if strings.Contains(sql, "event_block") {
			continue
		}
		for _, day := range []time.Time{at, at.AddDate(0, 0, 1)} {
			if _, err := owner.Exec(ctx, sql, day); err != nil {
				t.Fatal(err)
			}
		}
	}
	detachHalf(t, owner, "event_20260304")

	if err := schema.Migrate(ctx, dbtest.OwnerURL(t, url)); err != nil {
		t.Fatal(err)
	}
	write, writeURL := dbtest.NewRole(t, url)
	read, readURL := dbtest.NewRole(t, url)
	if err := schema.Grant(ctx, dbtest.OwnerURL(t, url), write, read); err != nil {
		t.Fatal(err)
	}
	app, reader := dbtest.Open(t, writeURL), dbtest.Open(t, readURL)
	if err := errors.Join(schema.Check(ctx, app), schema.CheckAudit(ctx, app), schema.CheckReader(ctx, reader)); err != nil {
		t.Fatal(err)
	}
	var events, tokens int
	var key []byte
	if err := app.QueryRow(ctx, "SELECT (SELECT count(*) FROM event), (SELECT count(*) FROM api_token WHERE created_by IS NULL), (SELECT key FROM lexicon_version)").
		Scan(&events, &tokens, &key); err != nil || events != 1 || tokens != 1 || key[15] != 15 {
		t.Errorf("%d events of the day that is whole, %d tokens, key %x: %v", events, tokens, key, err)
	}
	// The days of before are the application's to drop, and the one that was half detached.
	for _, table := range tables {
		for _, day := range []string{"2026-03-04", "2026-03-05"} {
			var dropped bool
			if err := app.QueryRow(ctx, "SELECT drop_day($1, $2::text::date)", table, day).Scan(&dropped); err != nil || !dropped {
				t.Errorf("drop %s of %s: %v %v", day, table, dropped, err)
			}
		}
	}
	var left, total int
	if err := app.QueryRow(ctx, "SELECT (SELECT count(*) FROM pg_class WHERE relname ~ '_2026030[45]$'), (SELECT sum(stored) FROM ledger_total)").
		Scan(&left, &total); err != nil || left != 0 || total != 2 {
		t.Errorf("%d tables are left, the sums are %d: %v", left, total, err)
	}
}

// detachHalf leaves a partition as a concurrent DETACH does that was interrupted.
func detachHalf(t *testing.T, pool *pgxpool.Pool, partition string) {
	t.Helper()
	ctx := bounded(t, time.Minute)
	reader := begin(t, ctx, pool)
	if _, err := reader.Exec(ctx, "SELECT count(*) FROM event"); err != nil {
		t.Fatal(err)
	}
	interrupted, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := pool.Exec(interrupted, "ALTER TABLE event DETACH PARTITION "+partition+" CONCURRENTLY")
		done <- err
	}()
	for pending := false; !pending; {
		if err := reader.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_inherits WHERE inhdetachpending)").Scan(&pending); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-done; err == nil {
		t.Fatal("the detach was not interrupted")
	}
	if err := reader.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
}
