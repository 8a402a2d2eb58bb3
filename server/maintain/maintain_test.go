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

// newMaintainer works as the role that the application has, on the database of pool, a superuser's.
func newMaintainer(t *testing.T, pool *pgxpool.Pool) *Maintainer {
	t.Helper()
	app := dbtest.Open(t, dbtest.AppURL(t, pool.Config().ConnString()))
	return New(app, 91*24*time.Hour, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
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

func TestOneReplicaWorksAndAnotherTakesOver(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	one, two := newMaintainer(t, pool), newMaintainer(t, pool)
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
	m, other := newMaintainer(t, pool), newMaintainer(t, pool)
	at := time.Now().UTC().Truncate(time.Hour).Add(-3 * time.Hour)
	ctx := t.Context()
	check := func() {
		t.Helper()
		for table, unit := range map[string]string{"rollup_hour": "hour", "rollup_day": "day"} {
			rows := `SELECT date_trunc('` + unit + `', e.occurred_at, 'UTC') b, d.dimension, d.value, count(*) n, count(*) FILTER (WHERE e.severity >= 6) e
				FROM event e, event_dimensions(e.severity, e.type, e.source, e.tags, e.facets, e.facets_version) d GROUP BY 1, 2, 3`
			held := `SELECT bucket b, dimension, value, n, errors e FROM ` + table
			if n := count(t, pool, "SELECT count(*) FROM (("+rows+" EXCEPT "+held+") UNION ALL ("+held+" EXCEPT "+rows+")) x"); n != 0 {
				t.Errorf("%s: %d rows differ", table, n)
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

func TestAnEventCountsUnderWhatItHas(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	exec(t, pool, `INSERT INTO facet_version (version, config, fields, counted) VALUES (2, '', '{area,device,devices,room}', '{area,devices,tag}')`)
	for values, want := range map[string]string{
		"NULL, 't', 's', NULL, NULL, 1":                                        "severity:0 source:s type:t",
		"6::smallint, 't', 's', '{}', '{}', 1":                                 "severity:6 source:s type:t",
		"1::smallint, 't', 's', '{a,b}', NULL, 1":                              "severity:1 source:s tag: tag:a tag:b type:t",
		"1::smallint, '', 's', NULL, '{device=x,person=a,room=a,room=b=c}', 1": "person: person:a room: room:a room:b=c severity:1 source:s type:",
		"1::smallint, 't', 's', '{device=a}', '{device=x,device=y}', 1":        "severity:1 source:s tag: tag:device=a type:t",
		"1::smallint, 't', 's', NULL, '{area=x,device=y,room=z}', 1":           "room: room:z severity:1 source:s type:t",
		"1::smallint, 't', 's', '{b}', '{area=x,device=y,devices=z,room=}', 2": "area: area:x devices: devices:z severity:1 source:s tag: tag:b type:t",
		"1::smallint, 't', 's', NULL, '{area=x,devices=}', 2":                  "area: area:x devices: devices: severity:1 source:s type:t",
		"1::smallint, 't', 's', NULL, '{room=x}', 3":                           "severity:1 source:s type:t",
	} {
		var got string
		if err := pool.QueryRow(t.Context(), `SELECT string_agg(dimension || ':' || value, ' ' ORDER BY dimension, value)
			FROM event_dimensions(`+values+`::smallint)`).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", values, got, want)
		}
	}
}

func TestThePendingListOfAWrittenDayIsCleaned(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m := newMaintainer(t, pool)
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
