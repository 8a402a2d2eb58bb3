package audit

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"oriel/server/dbtest"
)

// changes is what nobody may do to the record.
func changes() map[string]string {
	return map[string]string{
		"change an entry":     "UPDATE audit SET reason = 'another'",
		"change no entry":     "UPDATE audit SET reason = 'another' WHERE false",
		"delete an entry":     "DELETE FROM audit",
		"empty the record":    "TRUNCATE audit",
		"change by an insert": "INSERT INTO audit (operation, phase, action, outcome, actor_kind, actor, actor_id, roles) SELECT operation, 'outcome', 'token.create', 'done', 'system', '', '', '{}' FROM audit LIMIT 1 ON CONFLICT (operation) WHERE phase = 'outcome' DO UPDATE SET reason = 'another'",
	}
}

func TestTheRecordOnlyGrows(t *testing.T) {
	t.Parallel()
	superuser := dbtest.NewURL(t)
	for name, c := range map[string]struct {
		url  string
		more map[string]string
	}{
		"for the application": {dbtest.AppURL(t, superuser), map[string]string{
			"drop the record":     "DROP TABLE audit",
			"take the trigger":    "ALTER TABLE audit DISABLE TRIGGER audit_append_only",
			"drop the trigger":    "DROP TRIGGER audit_append_only ON audit",
			"replace the trigger": "CREATE OR REPLACE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
			"take a rule":         "CREATE RULE forget AS ON INSERT TO audit DO INSTEAD NOTHING",
			"rename the record":   "ALTER TABLE audit RENAME TO hidden",
			"grant itself more":   "GRANT UPDATE ON audit TO CURRENT_USER; UPDATE audit SET reason = 'another'",
			"go around triggers":  "SET session_replication_role = replica",
		}},
		"for its owner, by accident":   {dbtest.OwnerURL(t, superuser), nil},
		"for a superuser, by accident": {superuser, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := New(dbtest.Open(t, c.url), newRegistry())
			op := begin(t, l, creation())
			if err := op.Done(t.Context(), nil, "tokens/7", nil, nil); err != nil {
				t.Fatal(err)
			}
			if err := op.End(t.Context(), errors.New("too late")); err != nil {
				t.Errorf("a second end: %v", err)
			}
			want, _ := read(t, l, Filter{}, 1)
			all := changes()
			for what, sql := range c.more {
				all[what] = sql
			}
			for what, sql := range all {
				_, err := l.pool.Exec(t.Context(), sql)
				if pg := (*pgconn.PgError)(nil); !errors.As(err, &pg) || pg.Code != "42501" {
					t.Errorf("%s: %v", what, err)
				}
			}
			pages, export := read(t, l, Filter{}, 1)
			for i := range want {
				if pages[i].Reason != want[i].Reason || export[i].Outcome != Done {
					t.Errorf("entry %d has changed", i)
				}
			}
		})
	}
}

func TestTheRoleOfSearchesNeitherReadsTheRecordNorBegins(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	l := New(dbtest.Open(t, dbtest.ReadURL(t, url)), newRegistry())
	if _, err := l.pool.Exec(t.Context(), "SELECT count(*) FROM event"); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"list":   func() error { _, err := l.List(t.Context(), Filter{}, 0, ""); return err }(),
		"export": func() error { _, err := l.OpenExport(t.Context(), Filter{}); return err }(),
		"begin":  func() error { _, err := l.Begin(t.Context(), creation()); return err }(),
	} {
		if pg := (*pgconn.PgError)(nil); !errors.As(err, &pg) || pg.Code != "42501" {
			t.Errorf("%s: %v", what, err)
		}
	}
}
