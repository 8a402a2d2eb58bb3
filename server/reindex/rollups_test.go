package reindex_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/dbtest"
	"oriel/server/maintain"
	"oriel/server/reindex"
	"oriel/server/schema"
)

// rolled is a database whose events come with rollups, as a consumer writes them, or without.
type rolled struct {
	pool, app *pgxpool.Pool
	day       time.Time
	m         *maintain.Maintainer
}

func newRolled(t *testing.T, partitions int) *rolled {
	t.Helper()
	pool := dbtest.New(t)
	r := &rolled{pool: pool, app: dbtest.Open(t, dbtest.AppURL(t, pool.Config().ConnString())), day: time.Now().UTC().Truncate(24 * time.Hour)}
	r.m = maintain.New(r.app, 91*24*time.Hour, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err := schema.EnsureDays(t.Context(), pool, r.day.AddDate(0, 0, -1), r.day); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO log (topic, topic_id) VALUES ('t', gen_random_uuid())`); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO checkpoint (consumer, log, partition, next_offset) SELECT 'store', 1, p, 0 FROM generate_series(0, $1::int - 1) p`, partitions); err != nil {
		t.Fatal(err)
	}
	return r
}

// batch stores n events of the last hours, as one commit.
func (r *rolled) batch(ctx context.Context, partition, n int, rollups bool) error {
	return pgx.BeginFunc(ctx, r.app, func(tx pgx.Tx) error {
		var commit int64
		if err := tx.QueryRow(ctx, `UPDATE checkpoint SET commits = commits + 1 WHERE consumer = 'store' AND log = 1 AND partition = $1 RETURNING commits`, partition).Scan(&commit); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, severity, source, id, type, time_text, tags, facets)
			SELECT $1::timestamptz + (i * 7919 + $3) % 7200 * interval '1 second', 1, $2, $3 * 1000 + i, $3, now(), 0, nullif(i % 9, 0), '/s', format('%s-%s-%s', $2::int, $3::bigint, i),
				't.' || i % 3, '', CASE WHEN i % 2 = 0 THEN '{a,b}'::text[] END, ARRAY['device=d' || i, 'room=' || i % 4]
			  FROM generate_series(1, $4::int) i`, r.day, partition, commit, n); err != nil {
			return err
		}
		if !rollups {
			return nil
		}
		if _, err := tx.Exec(ctx, `INSERT INTO rollup_minute AS r SELECT date_trunc('minute', occurred_at, 'UTC'), log, partition, coalesce(severity, 0), count(*),
				count(*) FILTER (WHERE severity >= 6) FROM event WHERE log = 1 AND partition = $1 AND commit = $2 GROUP BY 1, 2, 3, 4 ORDER BY 1, 4
			ON CONFLICT (bucket, log, partition, severity) DO UPDATE SET n = r.n + EXCLUDED.n, errors = r.errors + EXCLUDED.errors`, partition, commit); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO rollup_quarter AS r SELECT date_bin('15 minutes', occurred_at, '2000-01-01 00:00+00'), log, partition, d.dimension, d.value,
				count(*), count(*) FILTER (WHERE e.severity >= 6) FROM event e, event_dimensions(e.severity, e.type, e.source, e.tags, e.facets, e.facets_version) d
			 WHERE log = 1 AND partition = $1 AND commit = $2 GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, d.dimension COLLATE "C", d.value COLLATE "C"
			ON CONFLICT (bucket, log, partition, dimension, value) DO UPDATE SET n = r.n + EXCLUDED.n, errors = r.errors + EXCLUDED.errors`, partition, commit)
		return err
	})
}

func TestRollupsAreMadeRightBesideWhatIsWritten(t *testing.T) {
	t.Parallel()
	const partitions = 3
	r := newRolled(t, partitions)
	x := reindex.NewRollups(r.app)
	for p := range partitions {
		for range 5 {
			if err := r.batch(t.Context(), p, 40, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := r.m.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := x.Check(t.Context(), reindex.Window{}, nil)
	if err != nil || c.Different == 0 || len(c.Differences) == 0 {
		t.Fatalf("%d differences of events that have no rollups, %v", c.Different, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var writers sync.WaitGroup
	for p := range partitions {
		writers.Go(func() {
			for range 150 {
				if ctx.Err() != nil {
					return
				}
				if err := r.batch(ctx, p, 30, true); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Go(func() {
		for ctx.Err() == nil {
			if err := r.m.Fold(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	// Spoiled again and again, it is made right again beside the writers.
	for range 4 {
		for _, sql := range []string{ // a row each: more would have to be locked in the order of the writers
			`UPDATE rollup_minute SET n = n + 5 WHERE (bucket, log, partition, severity) = (SELECT bucket, log, partition, severity FROM rollup_minute ORDER BY random() LIMIT 1)`,
			`UPDATE rollup_quarter SET errors = errors + 1 WHERE (bucket, log, partition) = (SELECT bucket, log, partition FROM rollup_quarter ORDER BY random() LIMIT 1) AND value = 't.1'`,
			`DELETE FROM rollup_hour WHERE (bucket, value) = (SELECT bucket, value FROM rollup_hour WHERE dimension = 'room' LIMIT 1)`,
			`UPDATE rollup_day SET n = 0 WHERE dimension = 'tag' AND value = 'a'`,
		} {
			if _, err := r.pool.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		today := reindex.Window{From: r.day, Until: r.day}
		if done, err := x.Rebuild(t.Context(), today, nil); err != nil || done.Different == 0 {
			t.Fatalf("%d corrected, %v", done.Different, err)
		}
		// A check beside the writers finds nothing either.
		c, err := x.Check(t.Context(), today, nil)
		if err != nil || c.Different != 0 || c.Rows == 0 {
			t.Fatalf("%d of %d differ after the rebuild, %v, %v", c.Different, c.Rows, c.Differences, err)
		}
	}
	stop()
	writers.Wait()
	if c, err = x.Check(t.Context(), reindex.Window{}, nil); err != nil || c.Different != 0 {
		t.Fatalf("%d differ, %v, %v", c.Different, c.Differences, err)
	}
	if n := r.count(t, `SELECT count(*) FROM checkpoint c JOIN rollup_fold f USING (log, partition) WHERE f.commits > 5`); n != partitions {
		t.Errorf("%d partitions were folded meanwhile: this test shows little", n)
	}
}

func (r *rolled) count(t *testing.T, sql string) (n int) {
	t.Helper()
	if err := r.pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestACheckOfRollupsSaysWhatDiffers(t *testing.T) {
	t.Parallel()
	r := newRolled(t, 1)
	x := reindex.NewRollups(r.app)
	if err := r.batch(t.Context(), 0, 90, true); err != nil {
		t.Fatal(err)
	}
	if err := r.m.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"SELECT": "",
		"UPDATE rollup_minute SET n = n + 1 WHERE severity = 6 AND bucket = (SELECT min(bucket) FROM rollup_minute WHERE severity = 6)": `rollup_minute, 20`,
		"UPDATE rollup_hour SET errors = errors + 2 WHERE value = '/s' AND bucket = date_trunc('day', now(), 'UTC')":                    `source "/s"`,
		"INSERT INTO rollup_quarter SELECT min(bucket), 1, 0, 'type', 'ghost', 7, 1 FROM rollup_quarter":                                `type "ghost": 7 events with 1 errors, and there are 0 with 0`,
		"UPDATE rollup_day SET n = n - 1 WHERE dimension = 'severity' AND value = '0'":                                                  `rollup_day, `,
	} {
		if _, err := r.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		c, err := x.Check(t.Context(), reindex.Window{From: r.day, Until: r.day}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" != (c.Different == 0) || want != "" && (len(c.Differences) == 0 || !strings.Contains(c.Differences[0].String(), want)) {
			t.Errorf("%s: %d: %v", sql, c.Different, c.Differences)
		}
		if c, err = x.Check(t.Context(), reindex.Window{Until: r.day.AddDate(0, 0, -1)}, nil); err != nil || c.Different != 0 {
			t.Errorf("%s: another day differs: %v, %v", sql, c.Differences, err)
		}
		if _, err := x.Rebuild(t.Context(), reindex.Window{}, nil); err != nil {
			t.Fatal(err)
		}
	}
}
