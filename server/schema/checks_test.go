package schema_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/server/dbtest"
	"oriel/server/schema"
)

// granted is a database with a write and a read role of its own, which a test may spoil.
type granted struct{ url, write, writeURL, read, readURL string }

func grant(t *testing.T) (g granted) {
	t.Helper()
	g.url = dbtest.NewURL(t)
	g.write, g.writeURL = dbtest.NewRole(t, g.url)
	g.read, g.readURL = dbtest.NewRole(t, g.url)
	if err := schema.Grant(bounded(t, time.Minute), dbtest.OwnerURL(t, g.url), g.write, g.read); err != nil {
		t.Fatal(err)
	}
	return g
}

// spoil runs statements as a superuser, with the names of the roles and of the database filled in.
func (g granted) spoil(t *testing.T, sql string) {
	t.Helper()
	pool := dbtest.Open(t, g.url)
	sql = strings.NewReplacer("WRITE", g.write, "READ", g.read, "DATABASE_NAME", pool.Config().ConnConfig.Database).Replace(sql)
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestARoleThatCouldRewriteTheRecordIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sql, want string }{
		"as it is granted":                        {"SELECT", ""},
		"a superuser":                             {"ALTER ROLE WRITE SUPERUSER", "is a superuser"},
		"the owner of audit":                      {"ALTER TABLE audit OWNER TO WRITE", "owns the table audit"},
		"the owner of the schema":                 {"ALTER SCHEMA public OWNER TO WRITE", "owns the schema of audit"},
		"the owner of the database":               {"ALTER DATABASE DATABASE_NAME OWNER TO WRITE", "owns the"}, // and with it of the schema
		"the owner of the trigger's function":     {"ALTER FUNCTION audit_is_append_only OWNER TO WRITE", "owns the function of the trigger"},
		"a member of the owner":                   {"GRANT oriel_test_owner TO WRITE", `is a member of "oriel_test_owner", which owns`},
		"a member that must ask for it":           {"ALTER ROLE WRITE NOINHERIT; GRANT oriel_test_owner TO WRITE", `is a member of "oriel_test_owner", which owns`},
		"a member of a role that may UPDATE":      {"GRANT UPDATE ON audit TO READ; ALTER ROLE WRITE NOINHERIT; GRANT READ TO WRITE", "which has UPDATE on audit"},
		"UPDATE":                                  {"GRANT UPDATE ON audit TO WRITE", "has UPDATE on audit"},
		"UPDATE of one column":                    {"GRANT UPDATE (detail) ON audit TO WRITE", "has UPDATE on audit"},
		"UPDATE for everybody":                    {"GRANT UPDATE ON audit TO PUBLIC", "has UPDATE on audit"},
		"DELETE":                                  {"GRANT DELETE ON audit TO WRITE", "has DELETE on audit"},
		"TRUNCATE":                                {"GRANT TRUNCATE ON audit TO WRITE", "has TRUNCATE on audit"},
		"TRIGGER":                                 {"GRANT TRIGGER ON audit TO WRITE", "has TRIGGER on audit"},
		"everything that is to be written":        {"GRANT pg_write_all_data TO WRITE", "on audit"},
		"triggers may be turned off":              {"GRANT SET ON PARAMETER session_replication_role TO WRITE", "session_replication_role"},
		"it may give itself roles":                {"ALTER ROLE WRITE CREATEROLE", "CREATEROLE"},
		"it may run programs on the server":       {"GRANT pg_execute_server_program TO WRITE", "the server's own user"},
		"the trigger is disabled":                 {"ALTER TABLE audit DISABLE TRIGGER audit_append_only", "is disabled: ALTER TABLE audit ENABLE TRIGGER audit_append_only"},
		"all triggers are disabled":               {"ALTER TABLE audit DISABLE TRIGGER ALL", "is disabled"},
		"the trigger is for replicas alone":       {"ALTER TABLE audit ENABLE REPLICA TRIGGER audit_append_only", "is disabled"},
		"the trigger is enabled for replicas too": {"ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_append_only", ""},
		"the trigger is dropped":                  {"DROP TRIGGER audit_append_only ON audit", "is missing"},
		"its function is replaced":                {"CREATE OR REPLACE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'", "not the one of the migrations"},
		"it is made for less": {
			"DROP TRIGGER audit_append_only ON audit; CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit EXECUTE FUNCTION audit_is_append_only()", "not the one of the migrations",
		},
		"it is made with a condition": {
			"DROP TRIGGER audit_append_only ON audit; CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit WHEN (false) EXECUTE FUNCTION audit_is_append_only()", "not the one of the migrations",
		},
		"it is made for one column": {
			"DROP TRIGGER audit_append_only ON audit; CREATE TRIGGER audit_append_only BEFORE UPDATE OF detail OR DELETE OR TRUNCATE ON audit EXECUTE FUNCTION audit_is_append_only()", "not the one of the migrations",
		},
		"it cannot add to the record":             {"REVOKE INSERT ON audit FROM WRITE", "has no INSERT on audit"},
		"it cannot make days":                     {"REVOKE EXECUTE ON FUNCTION ensure_day FROM WRITE", "has no EXECUTE on ensure_day"},
		"it cannot stage rows":                    {"REVOKE TEMPORARY ON DATABASE DATABASE_NAME FROM PUBLIC, WRITE", "has no TEMPORARY on the database"},
		"the role that reads, in the wrong place": {"GRANT READ TO WRITE; ALTER ROLE WRITE NOINHERIT; REVOKE ALL ON event FROM WRITE", "has no DELETE on event"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t, time.Minute)
			g := grant(t)
			g.spoil(t, c.sql)
			err := schema.CheckAudit(ctx, dbtest.Open(t, g.writeURL))
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"Database roles" in docs/operations.md`) {
				t.Fatalf("got %v, want an error with %q and the way out", err, c.want)
			}
		})
	}
}

func TestTheRolesOfTheTestsAreThoseOfAnInstallation(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	url := dbtest.NewURL(t)
	if err := schema.CheckAudit(ctx, dbtest.Open(t, dbtest.AppURL(t, url))); err != nil {
		t.Error(err)
	}
	if err := schema.CheckReader(ctx, dbtest.Open(t, dbtest.ReadURL(t, url))); err != nil {
		t.Error(err)
	}
	for who, url := range map[string]string{"superuser": url, "owner": dbtest.OwnerURL(t, url)} {
		pool := dbtest.Open(t, url)
		if schema.CheckAudit(ctx, pool) == nil || schema.CheckReader(ctx, pool) == nil {
			t.Errorf("the %s passes", who)
		}
	}
	if schema.CheckReader(ctx, dbtest.Open(t, dbtest.AppURL(t, url))) == nil {
		t.Error("the role that writes passes for one that reads")
	}
	if schema.CheckAudit(ctx, dbtest.Open(t, dbtest.ReadURL(t, url))) == nil {
		t.Error("the role that reads passes for one that writes")
	}
}

func TestARoleForReadingThatCouldWriteOrReadSecretsIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sql, want string }{
		"as it is granted":                 {"SELECT", ""},
		"one that sees all tables":         {"GRANT pg_read_all_data TO READ", `is a member of "pg_read_all_data", which may SELECT api_token, which searches do not need: REVOKE pg_read_all_data FROM READ`},
		"a member that must ask for it":    {"ALTER ROLE READ NOINHERIT; GRANT pg_read_all_data TO READ", "REVOKE pg_read_all_data FROM READ"},
		"SELECT on session":                {"GRANT SELECT ON session TO READ", "may SELECT session, which searches do not need: REVOKE ALL ON session FROM PUBLIC, READ"},
		"SELECT of one column":             {"GRANT SELECT (hash) ON api_token TO READ", "may SELECT api_token"},
		"SELECT for everybody":             {"GRANT SELECT ON sign_in TO PUBLIC", "may SELECT sign_in"},
		"SELECT on audit":                  {"GRANT SELECT ON audit TO READ", "may SELECT audit"},
		"a superuser":                      {"ALTER ROLE READ SUPERUSER", "is a superuser"},
		"a member of the owner":            {"ALTER ROLE READ NOINHERIT; GRANT oriel_test_owner TO READ", "oriel_test_owner"},
		"a member of the role that writes": {"ALTER ROLE READ NOINHERIT; GRANT WRITE TO READ", "which has "},
		"INSERT on event":                  {"GRANT INSERT ON event TO READ", "has INSERT on event"},
		"INSERT of one column":             {"GRANT INSERT (detail) ON audit TO READ", "has INSERT on audit"},
		"UPDATE of one column":             {"GRANT UPDATE (detail) ON audit TO READ", "has UPDATE on audit"},
		"DELETE on a rollup":               {"GRANT DELETE ON rollup_hour TO READ", "has DELETE on rollup_hour"},
		"TRUNCATE for everybody":           {"GRANT TRUNCATE ON term TO PUBLIC", "has TRUNCATE on term"},
		"the owner of a table":             {"ALTER TABLE term OWNER TO READ", "owns term"},
		"CREATE in the schema":             {"GRANT CREATE ON SCHEMA public TO READ", "may create tables"},
		"it cannot read":                   {"REVOKE SELECT ON event FROM READ", "has no SELECT on event"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t, time.Minute)
			g := grant(t)
			g.spoil(t, c.sql)
			err := schema.CheckReader(ctx, dbtest.Open(t, g.readURL))
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			want := strings.ReplaceAll(c.want, "READ", g.read)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"Database roles" in docs/operations.md`) {
				t.Fatalf("got %v, want an error with %q and the way out", err, want)
			}
		})
	}
}

// The way out that errors name must be there.
func TestTheSectionThatRefusalsNameExists(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n## Database roles\n", "oriel migrate --write-role"} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("docs/operations.md lacks %q", want)
		}
	}
}
