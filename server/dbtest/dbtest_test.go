package dbtest_test

import (
	"testing"
	"time"

	"oriel/server/dbtest"
)

func TestEachTestHasItsOwnMigratedDatabase(t *testing.T) {
	t.Parallel()
	began := time.Now()
	a := dbtest.New(t)
	t.Logf("first database after %v", time.Since(began))
	began = time.Now()
	b := dbtest.New(t)
	t.Logf("second database after %v", time.Since(began))
	if _, err := a.Exec(t.Context(), "INSERT INTO term (word, version, hash) VALUES ('door', 1, 1)"); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := b.QueryRow(t.Context(), "SELECT count(*) FROM term").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n != 0 {
		t.Fatalf("a row of one test's database is in the other's: %d", n)
	}
	var parts int
	if err := b.QueryRow(t.Context(), "SELECT count(*) FROM pg_inherits WHERE inhparent = 'event'::regclass").Scan(&parts); err != nil {
		t.Fatal(err)
	}
	if parts != 9 {
		t.Fatalf("the template has %d day partitions of event, not the 9 around today", parts)
	}
}
