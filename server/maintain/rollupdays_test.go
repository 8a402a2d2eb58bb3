package maintain

import (
	"testing"
	"time"

	"oriel/server/dbtest"
)

func TestRollupsGoAfterTheirEvents(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m := newMaintainer(t, pool)
	old, today := time.Now().UTC().AddDate(0, 0, -100).Truncate(24*time.Hour), time.Now().UTC().Truncate(24*time.Hour)
	store(t, pool, 0, 1, old, 3)
	store(t, pool, 0, 2, today, 3)
	if err := m.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	tables := []string{"rollup_minute", "rollup_quarter", "rollup_hour"}
	there := func() (n int64) {
		for _, table := range tables {
			n += count(t, pool, exists, table+"_"+old.Format("20060102"))
		}
		return n + count(t, pool, "SELECT count(DISTINCT bucket) FROM rollup_day WHERE bucket = $1", old)
	}
	if n := there(); n != 4 {
		t.Fatalf("%d of 4 tables have the old day", n)
	}
	reader := reads(t, pool)
	if err := m.dropDays(t.Context()); err == nil {
		t.Fatal("events were dropped under a reader: this test shows nothing")
	}
	if n := there(); n != 4 {
		t.Errorf("%d of 4 tables have the rollups of events that are still there", n)
	}
	reader()
	if err := m.dropDays(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := there(); n != 0 {
		t.Errorf("%d tables have rollups of events that are gone", n)
	}
	if n := count(t, pool, "SELECT count(*) FROM rollup_day WHERE bucket = $1", today); n == 0 {
		t.Error("the days that are left have no rollups any more")
	}
}
