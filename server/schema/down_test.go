package schema_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/dbtest"
)

// picture is what the catalog says of our tables, indexes, functions and triggers.
func picture(t *testing.T, pool *pgxpool.Pool) (lines []string) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), `SELECT coalesce(array_agg(line ORDER BY line), '{}') FROM (
		SELECT format('column %s.%s %s %s', attrelid::regclass, attname, atttypid::regtype, attnotnull) AS line
		  FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
		 WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
		UNION ALL SELECT format('trigger %s %s', tgrelid::regclass, tgname) FROM pg_trigger WHERE NOT tgisinternal
		UNION ALL SELECT format('function %s %s %s %s %s', oid::regprocedure, prosecdef, proconfig, prosrc,
			has_function_privilege('pg_monitor', oid, 'EXECUTE')) FROM pg_proc WHERE pronamespace = 'public'::regnamespace) x`).Scan(&lines); err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestEveryMigrationIsUndoneByItsOwn(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	pool := dbtest.Open(t, dbtest.OwnerURL(t, dbtest.NewEmptyURL(t)))
	ups, err := filepath.Glob("../../db/migrations/*.up.sql")
	if err != nil || len(ups) == 0 {
		t.Fatalf("%d migrations: %v", len(ups), err)
	}
	slices.Sort(ups)
	run := func(file string) {
		t.Helper()
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pool.Exec(ctx, string(raw)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	var before [][]string
	for _, up := range ups {
		before = append(before, picture(t, pool))
		run(up)
	}
	for i, up := range slices.Backward(ups) {
		run(strings.Replace(up, ".up.sql", ".down.sql", 1))
		if got := picture(t, pool); !slices.Equal(got, before[i]) {
			t.Errorf("after undoing %s there is\n%s\n\nwant\n%s", filepath.Base(up), strings.Join(got, "\n"), strings.Join(before[i], "\n"))
		}
	}
}
