package schema_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/dbtest"
	"oriel/server/schema"
)

func bounded(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestConcurrentMigrationsOfAnEmptyDatabaseAllSucceed(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	url := dbtest.NewEmptyURL(t)
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() { errs <- schema.Migrate(ctx, url) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Errorf("a concurrent migration failed: %v", err)
		}
	}
	pool := dbtest.Open(t, url)
	if err := schema.Check(ctx, pool); err != nil {
		t.Errorf("the migrated schema is refused: %v", err)
	}
	var keys, distinct int
	if err := pool.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE octet_length(key) = 16 AND key <> '\x00000000000000000000000000000000')
		FROM lexicon_version WHERE version = 1 AND state = 'live'`).Scan(&keys, &distinct); err != nil {
		t.Fatal(err)
	}
	if keys != 1 || distinct != 1 {
		t.Errorf("there are %d first lexicon versions, %d with a random key", keys, distinct)
	}
}

func TestAnotherMigrationKeepsKeyAndRows(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	url := dbtest.NewURL(t)
	pool := dbtest.Open(t, url)
	key := func() (k []byte) {
		if err := pool.QueryRow(ctx, "SELECT key FROM lexicon_version WHERE version = 1").Scan(&k); err != nil {
			t.Fatal(err)
		}
		return k
	}
	before := key()
	if err := schema.Migrate(ctx, url); err != nil {
		t.Fatal(err)
	}
	if string(key()) != string(before) {
		t.Fatal("a second migration changed the lexicon's key: every stored hash would be lost")
	}
}

func TestAMigrationGivesUpWaitingWithItsContext(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	holder, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), "SELECT pg_advisory_lock(hashtextextended('oriel.migrate', 0))"); err != nil {
		t.Fatal(err)
	}
	err = schema.Migrate(bounded(t, 200*time.Millisecond), url)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "another migration") {
		t.Fatalf("got %v", err)
	}
}

func TestSchemasThatThisBuildDoesNotKnowAreRefusedWithTheWayOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sql, want string }{
		"an empty database":                 {"DROP TABLE schema_migrations", "run `oriel migrate`"},
		"a migration that never began":      {"DELETE FROM schema_migrations", "run `oriel migrate`"},
		"an older one":                      {"UPDATE schema_migrations SET version = 0", "run `oriel migrate`"},
		"a newer one":                       {"UPDATE schema_migrations SET version = 99999", "use the newer build"},
		"one whose migration broke halfway": {"UPDATE schema_migrations SET dirty = true", "by hand"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t, time.Minute)
			pool := dbtest.New(t)
			if err := schema.Check(ctx, pool); err != nil {
				t.Fatalf("the right schema is refused: %v", err)
			}
			if _, err := pool.Exec(ctx, c.sql); err != nil {
				t.Fatal(err)
			}
			if err := schema.Check(ctx, pool); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestMigratingANewerOrBrokenSchemaIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sql, want string }{
		"newer":  {"UPDATE schema_migrations SET version = 99999", "use the newer build"},
		"broken": {"UPDATE schema_migrations SET dirty = true", "broke off halfway"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t, time.Minute)
			url := dbtest.NewURL(t)
			if _, err := dbtest.Open(t, url).Exec(ctx, c.sql); err != nil {
				t.Fatal(err)
			}
			if err := schema.Migrate(ctx, url); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestDaysFromYesterdayToNextWeekTakeRowsAndOthersDoNot(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	pool := dbtest.New(t)
	day := time.Now().UTC().Truncate(24 * time.Hour)
	for _, at := range []time.Time{
		day.AddDate(0, 0, -1),
		day.AddDate(0, 0, 8).Add(-time.Microsecond),
	} {
		for _, insert := range inserts() {
			if _, err := pool.Exec(ctx, insert, at); err != nil {
				t.Errorf("a row of %s: %v", at, err)
			}
		}
	}
	for _, at := range []time.Time{day.AddDate(0, 0, -1).Add(-time.Microsecond), day.AddDate(0, 0, 8)} {
		if _, err := pool.Exec(ctx, insertEvent, at); err == nil {
			t.Errorf("a row of %s has a partition", at)
		}
	}
}

const insertEvent = `INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, source, id, type, time_text)
	VALUES ($1, 1, 0, 1, 1, now(), 0, '/s', 'id', 't', '')`

func inserts() []string {
	return []string{
		insertEvent,
		`INSERT INTO ledger (consumer, log, partition, commit, from_offset, to_offset, stored, duplicate, dead, skipped, expired, committed_at)
			VALUES ('store', 1, 0, 1, 0, 1, 1, 0, 0, 0, 0, $1)`,
		`INSERT INTO event_block (day, log, partition, version, from_commit, through_commit, rows, entries, buckets, base_offset, last_offset, keys, lists, places)
			VALUES ($1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, '', '', '')`,
		`INSERT INTO rollup_minute (bucket, log, partition, severity, n, errors) VALUES ($1, 1, 0, 0, 1, 0)`,
		`INSERT INTO rollup_quarter (bucket, log, partition, dimension, value, n, errors) VALUES ($1, 1, 0, 'type', 't', 1, 0)`,
		`INSERT INTO rollup_hour (bucket, dimension, value, n, errors) VALUES ($1, 'type', 't', 1, 0)`,
	}
}

// Searches read some bytes of what may be megabytes.
func TestPartsOfABlockCanBeReadAlone(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	pool := dbtest.New(t)
	var storage string
	if err := pool.QueryRow(ctx, `SELECT string_agg(DISTINCT attstorage::text, '') FROM pg_attribute a JOIN pg_inherits i ON i.inhrelid = a.attrelid
		WHERE i.inhparent = 'event_block'::regclass AND attname IN ('keys', 'lists', 'places')`).Scan(&storage); err != nil || storage != "e" {
		t.Errorf("the storage of a day's blocks is %q, want e, which is never compressed: %v", storage, err)
	}
}

// A day is the same day in every session: bounds never follow a session's zone or date style.
func TestDaysAreUTCWhateverTheSessionsZone(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	url := dbtest.NewURL(t)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(ctx, "SET timezone = 'Pacific/Kiritimati'; SET datestyle = 'German, DMY'"); err != nil {
		t.Fatal(err)
	}
	day := time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC)
	if err := schema.EnsureDays(ctx, conn, day, day); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]bool{
		day:                                      true,
		day.Add(24*time.Hour - time.Microsecond): true,
		day.Add(-time.Microsecond):               false,
		day.Add(24 * time.Hour):                  false,
	} {
		if _, err := conn.Exec(ctx, insertEvent, at); (err == nil) != want {
			t.Errorf("a row of %s: %v", at, err)
		}
	}
}

func TestManySessionsMakeOneDayOnce(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	pool := dbtest.New(t)
	var mu sync.Mutex
	made := 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 3 {
				var fresh bool
				err := pool.QueryRow(ctx, "SELECT ensure_day('event', $1::date)", time.Date(2032, 1, 1+i, 0, 0, 0, 0, time.UTC)).Scan(&fresh)
				if err != nil {
					t.Errorf("a concurrent call failed: %v", err)
				}
				if fresh {
					mu.Lock()
					made++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if made != 3 {
		t.Errorf("%d calls say that they made one of the 3 days", made)
	}
}

// A reader's snapshot of minutes and a writer's open transaction must neither stop a new day nor wait
// for it.
func TestANewDayWaitsForNobodyAndNobodyWaitsForIt(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	pool := dbtest.New(t)
	today := time.Now().UTC()
	tomorrow := time.Date(2033, 3, 3, 0, 0, 0, 0, time.UTC)

	reader := begin(t, ctx, pool)
	if _, err := reader.Exec(ctx, "SELECT count(*) FROM event"); err != nil {
		t.Fatal(err)
	}
	writer := begin(t, ctx, pool)
	for _, insert := range inserts() {
		if _, err := writer.Exec(ctx, insert, today); err != nil {
			t.Fatal(err)
		}
	}

	maker := begin(t, ctx, pool)
	if _, err := maker.Exec(ctx, "SET LOCAL lock_timeout = '200ms'"); err != nil {
		t.Fatal(err)
	}
	for _, table := range schema.DayTables() {
		if _, err := maker.Exec(ctx, "SELECT ensure_day($1, $2::date)", table, tomorrow); err != nil {
			t.Fatalf("a new day of %s waits for a reader or a writer: %v", table, err)
		}
	}

	// The maker has not committed: what it holds must stop nobody.
	for _, other := range []pgx.Tx{reader, writer} {
		if _, err := other.Exec(ctx, "SET LOCAL lock_timeout = '200ms'"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := reader.Exec(ctx, "SELECT count(*) FROM event WHERE occurred_at < now()"); err != nil {
		t.Errorf("a reader waits for the new day: %v", err)
	}
	if _, err := writer.Exec(ctx, strings.Replace(insertEvent, "'id'", "'second'", 1), today); err != nil {
		t.Errorf("a writer waits for the new day: %v", err)
	}
	fresh := begin(t, ctx, pool)
	if _, err := fresh.Exec(ctx, "SET LOCAL lock_timeout = '200ms'"); err != nil {
		t.Fatal(err)
	}
	if _, err := fresh.Exec(ctx, strings.Replace(insertEvent, "'id'", "'third'", 1), today); err != nil {
		t.Errorf("a new writer waits for the new day: %v", err)
	}
	for _, tx := range []pgx.Tx{maker, writer, fresh} {
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	// The pool has no connection left; the reader was there before the day was.
	if _, err := reader.Exec(ctx, insertEvent, tomorrow); err != nil {
		t.Errorf("the new day takes no row: %v", err)
	}
}

func begin(t *testing.T, ctx context.Context, pool *pgxpool.Pool) pgx.Tx {
	t.Helper()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Release)
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	return tx
}

func TestADayThatWasDetachedComesBackWithItsRows(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	pool := dbtest.New(t)
	day := time.Date(2035, 1, 1, 12, 0, 0, 0, time.UTC)
	if err := schema.EnsureDays(ctx, pool, day, day); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(ctx, insertEvent, day); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(ctx, "ALTER TABLE event DETACH PARTITION event_20350101"); err != nil {
		t.Fatal(err)
	}
	if err := schema.EnsureDays(ctx, pool, day, day); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := pool.QueryRow(ctx, "SELECT count(*) FROM event WHERE occurred_at = $1", day).Scan(&n); err != nil || n != 1 {
		t.Fatalf("the day came back with %d rows of 1: %v", n, err)
	}
}

func TestConcurrentInsertsSeeNoFailureWhileDaysAreMade(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	pool := dbtest.New(t)
	stop := make(chan struct{})
	var all sync.WaitGroup
	for w := range 3 {
		all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				id := fmt.Sprintf("'%d-%d'", w, i)
				if _, err := pool.Exec(ctx, strings.Replace(insertEvent, "'id'", id, 1), time.Now()); err != nil {
					t.Errorf("an insert beside ensure_day failed: %v", err)
					return
				}
			}
		})
	}
	from := time.Date(2034, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := schema.EnsureDays(ctx, pool, from, from.AddDate(0, 0, 9)); err != nil {
		t.Error(err)
	}
	close(stop)
	all.Wait()
}

// A partition must have every index of its parent, or a query falls back to reading it whole.
func TestANewDayHasEveryIndexOfItsTable(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	pool := dbtest.New(t)
	var missing string
	if err := pool.QueryRow(ctx, `
		SELECT coalesce(string_agg(parent.relname || ' on ' || part.inhrelid::regclass, ', '), '')
		  FROM pg_index i
		  JOIN pg_class parent ON parent.oid = i.indexrelid AND parent.relkind = 'I'
		  JOIN pg_inherits part ON part.inhparent = i.indrelid
		 WHERE NOT EXISTS (SELECT FROM pg_inherits x JOIN pg_index xi ON xi.indexrelid = x.inhrelid
		                    WHERE x.inhparent = i.indexrelid AND xi.indrelid = part.inhrelid AND xi.indisvalid)`).Scan(&missing); err != nil {
		t.Fatal(err)
	}
	if missing != "" {
		t.Errorf("indexes without a part: %s", missing)
	}
	var checks int
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM pg_constraint WHERE conname LIKE '%\_day' AND contype = 'c'`).Scan(&checks); err != nil {
		t.Fatal(err)
	}
	if checks != 0 {
		t.Errorf("%d helper constraints were left behind", checks)
	}
}
