package maintain

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/dbtest"
	"oriel/server/schema"
)

func TestDaysAreMadeAheadForEveryTable(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m := newMaintainer(t, pool)
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
	m := newMaintainer(t, pool)
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

// exists is 1 where a table is in the database.
const exists = "SELECT (to_regclass($1) IS NOT NULL)::int"

func TestDroppingADayGivesWayToALongQueryAndHoldsUpNobodyBehindIt(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m := newMaintainer(t, pool)
	old := time.Now().UTC().AddDate(0, 0, -100).Truncate(24 * time.Hour)
	store(t, pool, 0, 1, old, 3)
	name := "event_" + old.Format("20060102")
	reader := reads(t, pool)

	result := make(chan error, 1)
	go func() { result <- m.dropDays(t.Context()) }()
	// Others come while maintenance waits. They may not wait for as long as the reader reads.
	for done := false; !done; {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if _, err := pool.Exec(ctx, "SELECT count(*) FROM event"); err != nil {
			t.Fatalf("a query behind maintenance: %v", err)
		}
		cancel()
		select {
		case err := <-result:
			refused := (*pgconn.PgError)(nil)
			if !errors.As(err, &refused) || refused.Code != "55P03" {
				t.Errorf("dropped under a reader: %v", err)
			}
			done = true
		case <-t.Context().Done():
			t.Fatal("the drop never gives way")
		default:
		}
	}
	if n := count(t, pool, "SELECT count(*) FROM event"); n != 3 {
		t.Errorf("giving way left %d rows of 3", n)
	}
	if n := count(t, pool, exists, "ledger_"+old.Format("20060102")); n != 0 {
		t.Error("what the reader does not read was not dropped")
	}
	if n := count(t, pool, exists, "event_block_"+old.Format("20060102")); n != 1 {
		t.Error("events that are still there have lost their index")
	}
	reader()
	if err := m.dropDays(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, pool, exists, name); n != 0 {
		t.Error("the day is still there")
	}
}

// reads keeps a transaction open that has read the events, until it is called.
func reads(t *testing.T, pool *pgxpool.Pool) (end func()) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() { _ = tx.Rollback(context.Background()) })
	t.Cleanup(end)
	if _, err := tx.Exec(t.Context(), "SELECT count(*) FROM event"); err != nil {
		t.Fatal(err)
	}
	return end
}

// Older builds detached days concurrently, in steps, and may have been stopped between any two.
func TestDaysThatWereHalfDroppedAreFinished(t *testing.T) {
	t.Parallel()
	for name, detach := range map[string]func(t *testing.T, pool *pgxpool.Pool, day string){
		"the detaching was interrupted": func(t *testing.T, pool *pgxpool.Pool, day string) {
			end := reads(t, pool)
			defer end()
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := pool.Exec(ctx, "ALTER TABLE event DETACH PARTITION "+day+" CONCURRENTLY")
				done <- err
			}()
			await(t, "the detach is pending", func() bool {
				return count(t, pool, "SELECT count(*) FROM pg_inherits WHERE inhdetachpending") == 1
			})
			cancel()
			if err := <-done; err == nil {
				t.Fatal("the detach was not interrupted")
			}
		},
		"it was detached and not dropped": func(t *testing.T, pool *pgxpool.Pool, day string) {
			exec(t, pool, "ALTER TABLE event DETACH PARTITION "+day)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := dbtest.New(t)
			m := newMaintainer(t, pool)
			old := time.Now().UTC().AddDate(0, 0, -100).Truncate(24 * time.Hour)
			store(t, pool, 0, 1, old, 3)
			day := "event_" + old.Format("20060102")
			detach(t, pool, day)
			if n := count(t, pool, exists, day); n != 1 {
				t.Fatal("there is nothing to finish: this test shows nothing")
			}
			await(t, "the day is gone", func() bool { // what was interrupted may take a moment to end
				return m.dropDays(t.Context()) == nil && count(t, pool, exists, day) == 0
			})
		})
	}
}

func TestALedgerDayIsSummedOnceThoughManyDropIt(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	old := time.Now().UTC().AddDate(0, 0, -100)
	if err := schema.EnsureDays(t.Context(), pool, old, old); err != nil {
		t.Fatal(err)
	}
	exec(t, pool, `INSERT INTO ledger (consumer, log, partition, commit, from_offset, to_offset, stored, duplicate, dead, skipped,
		expired, committed_at) VALUES ('store', 1, 0, 1, 0, 15, 5, 4, 3, 2, 1, $1)`, old)
	var all sync.WaitGroup
	for range 3 {
		m := newMaintainer(t, pool)
		all.Go(func() {
			for m.dropDays(t.Context()) != nil { // gives way to the others
			}
		})
	}
	all.Wait()
	if n := count(t, pool, "SELECT sum(stored) * 10000 + sum(duplicate) * 1000 + sum(dead) * 100 + sum(skipped) * 10 + sum(expired) FROM ledger_total"); n != 54321 {
		t.Errorf("the sums are %d", n)
	}
}
