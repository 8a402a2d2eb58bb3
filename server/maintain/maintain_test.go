package maintain

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"oriel/server/dbtest"
	"oriel/server/schema"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, dbtest.IgnoreServers()...)
}

const patience = 30 * time.Second

func newMaintainer(pool *pgxpool.Pool) *Maintainer {
	return New(pool, 91*24*time.Hour, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
}

func start(t *testing.T, m *Maintainer) {
	t.Helper()
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { halt(t, m) })
}

func halt(t *testing.T, m *Maintainer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func await(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !f() {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain: " + what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

func count(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) (n int64) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func exec(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// store writes n events of one commit at a time, as the consumer would, with its checkpoint and ledger.
func store(t *testing.T, pool *pgxpool.Pool, partition int, commit int64, at time.Time, n int) {
	t.Helper()
	if err := schema.EnsureDays(t.Context(), pool, at, at); err != nil {
		t.Fatal(err)
	}
	exec(t, pool, `INSERT INTO log (topic, topic_id) VALUES ('t', '00000000-0000-0000-0000-000000000001') ON CONFLICT DO NOTHING`)
	exec(t, pool, `INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, severity, source, id, type,
			time_text, tags, facets, lexemes)
		SELECT $1::timestamptz + i * interval '7 minutes', 1, $2, $3::bigint * 1000 + i, $3, now(), 0, NULLIF(i % 9, 0), '/s/' || i % 3,
			format('%s-%s-%s', $2::int, $3::bigint, i), 'type.' || i % 2, '', CASE WHEN i % 2 = 0 THEN '{a,b}'::text[] END,
			ARRAY['device=d' || i, 'room=r=' || i % 2], ARRAY[i, i * 31, 7]
		  FROM generate_series(0, $4::int - 1) i`, at, partition, commit, n)
	exec(t, pool, `INSERT INTO checkpoint (consumer, log, partition, next_offset, commits) VALUES ('store', 1, $1, $2, $3)
		ON CONFLICT (consumer, log, partition) DO UPDATE SET commits = EXCLUDED.commits, next_offset = EXCLUDED.next_offset`,
		partition, commit*1000, commit)
}

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

func TestOneReplicaWorksAndAnotherTakesOver(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	one, two := newMaintainer(dbtest.Open(t, url)), newMaintainer(dbtest.Open(t, url))
	pool := dbtest.Open(t, url)
	holders := func() int64 {
		return count(t, pool, `SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
			WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database() AND l.objsubid = 1
			AND (l.classid::bigint << 32) | l.objid::bigint = hashtextextended('oriel.maintain', 0)`)
	}
	start(t, one)
	await(t, "the first works", func() bool { return holders() == 1 })
	start(t, two)
	halt(t, one)
	await(t, "the second works", func() bool { return holders() == 1 })
	halt(t, two)
	await(t, "nobody works", func() bool { return holders() == 0 })
}

func TestHoursHoldTheCommitsThatTheySayTheyHold(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m, other := newMaintainer(pool), newMaintainer(pool)
	at := time.Now().UTC().Truncate(time.Hour).Add(-3 * time.Hour)
	ctx := t.Context()
	check := func() {
		t.Helper()
		for what, sql := range map[string]string{
			"severity": `SELECT date_trunc('hour', occurred_at, 'UTC') b, coalesce(severity, 0)::text v, count(*) n, count(*) FILTER (WHERE severity >= 6) e FROM event GROUP BY 1, 2`,
			"type":     `SELECT date_trunc('hour', occurred_at, 'UTC') b, type v, count(*) n, count(*) FILTER (WHERE severity >= 6) e FROM event GROUP BY 1, 2`,
			"source":   `SELECT date_trunc('hour', occurred_at, 'UTC') b, source v, count(*) n, count(*) FILTER (WHERE severity >= 6) e FROM event GROUP BY 1, 2`,
			"tag":      `SELECT date_trunc('hour', occurred_at, 'UTC') b, unnest(tags) v, count(*) n, count(*) FILTER (WHERE severity >= 6) e FROM event GROUP BY 1, 2`,
			"room":     `SELECT date_trunc('hour', occurred_at, 'UTC') b, substr(f, 6) v, count(*) n, count(*) FILTER (WHERE severity >= 6) e FROM event, unnest(facets) f WHERE f LIKE 'room=%' GROUP BY 1, 2`,
			"device":   `SELECT now() b, '' v, 0 n, 0 e WHERE false`,
		} {
			hours := `SELECT bucket b, value v, n, errors e FROM rollup_hour WHERE dimension = '` + what + `'`
			if n := count(t, pool, "SELECT count(*) FROM (("+sql+" EXCEPT "+hours+") UNION ALL ("+hours+" EXCEPT "+sql+")) x"); n != 0 {
				t.Errorf("%s: %d rows differ", what, n)
			}
		}
	}
	store(t, pool, 0, 1, at, 40)
	store(t, pool, 1, 1, at.AddDate(0, 0, -5), 10) // a day that has no hours yet
	exec(t, pool, "DROP TABLE rollup_hour_"+at.AddDate(0, 0, -5).Format("20060102"))
	if err := m.Fold(ctx); err != nil {
		t.Fatal(err)
	}
	check()
	for c := int64(2); c <= 2*foldBound+3; c += foldBound / 4 {
		store(t, pool, 0, c, at, 3)
	}
	store(t, pool, 1, 2, at, 9)
	var both sync.WaitGroup
	for _, x := range []*Maintainer{m, other} {
		both.Go(func() {
			if err := x.Fold(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	check()
	if n := count(t, pool, `SELECT count(*) FROM checkpoint c JOIN rollup_fold f USING (log, partition) WHERE f.commits = c.commits`); n != 2 {
		t.Errorf("%d partitions are folded to their commits", n)
	}
	if err := m.Fold(ctx); err != nil {
		t.Fatal(err)
	}
	check()
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

func TestThePendingListOfAWrittenDayIsCleaned(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m := newMaintainer(pool)
	now := time.Now().UTC().Truncate(24 * time.Hour)
	index := fmt.Sprintf(`(SELECT i.inhrelid FROM pg_inherits i JOIN pg_index x ON x.indexrelid = i.inhrelid
		WHERE i.inhparent = 'event_lexemes'::regclass AND x.indrelid = 'event_%s'::regclass)`, now.Format("20060102"))
	clean := "SELECT gin_clean_pending_list(" + index + ")"
	store(t, pool, 0, 1, now, 20)
	if n := count(t, pool, clean); n == 0 {
		t.Fatal("writing left nothing pending: this test shows nothing")
	}
	store(t, pool, 0, 2, now, 20)
	exec(t, pool, "SELECT pg_stat_force_next_flush()")
	await(t, "the statistics know of the rows", func() bool {
		return count(t, pool, "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relid = $1::text::regclass", "event_"+now.Format("20060102")) == 40
	})
	if err := m.cleanPendingLists(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, pool, clean); n != 0 {
		t.Errorf("%d pages were left pending", n)
	}
}

func TestTheBrokersLogIsTrimmedToWhatIsNeeded(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m := newMaintainer(pool)
	store(t, pool, 0, 7, time.Now(), 1)
	store(t, pool, 1, 9, time.Now(), 1)
	exec(t, pool, "INSERT INTO checkpoint (consumer, log, partition, next_offset) VALUES ('orders', 1, 1, 33)")
	got := make(chan map[int32]int64, 1)
	m.TrimLog = func(_ context.Context, lowest map[int32]int64) error {
		select {
		case got <- lowest:
		default:
		}
		return nil
	}
	start(t, m)
	select {
	case lowest := <-got:
		if fmt.Sprint(lowest) != "map[0:7000 1:33]" {
			t.Errorf("lowest %v", lowest)
		}
	case <-time.After(patience):
		t.Fatal("never called")
	}
}
