package maintain

import (
	"context"
	"fmt"
	"testing"
	"time"

	"oriel/server/dbtest"
	"oriel/server/schema"
)

func TestDaysAreMadeAheadForEveryTable(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m := newMaintainer(pool)
	m.now = func() time.Time { return time.Now().AddDate(0, 1, 0) }
	start(t, m)
	ahead := m.now().UTC()
	await(t, "a week ahead and a day back exist", func() bool {
		var n int64
		for _, table := range schema.DayTables() {
			for d := -1; d <= 7; d++ {
				n += count(t, pool, "SELECT (to_regclass($1) IS NOT NULL)::int", table+"_"+ahead.AddDate(0, 0, d).Format("20060102"))
			}
		}
		return n == int64(len(schema.DayTables())*9)
	})
}

func TestDaysOlderThanRetentionGoAndTheLedgerStillAddsUp(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m := newMaintainer(pool)
	ctx := t.Context()
	now := time.Now().UTC()
	old, edge := now.AddDate(0, 0, -93), now.AddDate(0, 0, -91)
	for _, d := range []time.Time{old, edge, now} {
		store(t, pool, 0, d.Unix(), d.Truncate(24*time.Hour), 5)
		for consumer, n := range map[string]int{"store": 5, "orders": 2} {
			exec(t, pool, `INSERT INTO ledger (consumer, log, partition, commit, from_offset, to_offset, stored, duplicate, dead, skipped,
				expired, committed_at) VALUES ($1, 1, 0, $2, 0, 15, $3, 4, 3, 2, 1, $4)`, consumer, d.Unix(), n, d)
		}
	}
	sum := `SELECT sum(stored) * 10000 + sum(duplicate) * 1000 + sum(dead) * 100 + sum(skipped) * 10 + sum(expired)
		FROM (SELECT stored, duplicate, dead, skipped, expired FROM ledger
		UNION ALL SELECT stored, duplicate, dead, skipped, expired FROM ledger_total) l`
	before := count(t, pool, sum)
	if err := m.dropDays(ctx); err != nil {
		t.Fatal(err)
	}
	if after := count(t, pool, sum); after != before {
		t.Errorf("the ledger's sums went from %d to %d", before, after)
	}
	if n := count(t, pool, "SELECT count(*) FROM ledger"); n != 4 {
		t.Errorf("%d ledger rows are left, want those of the edge and of today", n)
	}
	if n := count(t, pool, "SELECT count(*) FROM ledger_total WHERE through_commit = $1", old.Unix()); n != 2 {
		t.Errorf("%d totals", n)
	}
	for _, table := range schema.DayTables() {
		for d, want := range map[time.Time]int64{old: 0, edge: 1, now: 1} {
			if n := count(t, pool, "SELECT (to_regclass($1) IS NOT NULL)::int", table+"_"+d.Format("20060102")); n != want {
				t.Errorf("%s of %s: %d, want %d", table, d.Format(time.DateOnly), n, want)
			}
		}
	}
}

func TestAnInterruptedDropIsFinished(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m := newMaintainer(pool)
	old := time.Now().UTC().AddDate(0, 0, -100)
	store(t, pool, 0, 1, old.Truncate(24*time.Hour), 3)
	name := "event_" + old.Format("20060102")

	// Somebody reads the day: the first try gives up halfway.
	reader, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Exec(t.Context(), "SELECT count(*) FROM event"); err != nil {
		t.Fatal(err)
	}
	bounded, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	if err := m.dropDays(bounded); err == nil {
		t.Error("dropped under a reader")
	}
	cancel()
	await(t, "the detach is pending", func() bool {
		return count(t, pool, "SELECT count(*) FROM pg_inherits WHERE inhdetachpending") == 1
	})
	if err := reader.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, "the day is gone", func() bool {
		return m.dropDays(t.Context()) == nil && count(t, pool, "SELECT (to_regclass($1) IS NULL)::int", name) == 1
	})

	// Killed between the two steps: the table is there and belongs to nobody.
	store(t, pool, 0, 2, old.Truncate(24*time.Hour), 3)
	exec(t, pool, fmt.Sprintf("ALTER TABLE event DETACH PARTITION %s", name))
	if err := m.dropDays(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, pool, "SELECT (to_regclass($1) IS NULL)::int", name); n != 1 {
		t.Error("a detached day was left behind")
	}
}
