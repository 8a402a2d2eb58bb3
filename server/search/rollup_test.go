package search

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/dbtest"
	"oriel/server/maintain"
	"oriel/server/query"
	"oriel/server/schema"
)

// writeBatch stores n random events around a time as one commit of a partition, with its rollups, as a consumer
// does: in one transaction that begins with the checkpoint.
func writeBatch(ctx context.Context, pool *pgxpool.Pool, rng *rand.Rand, partition, n int, around time.Time, spread time.Duration) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		var commit int64
		if err := tx.QueryRow(ctx, `UPDATE checkpoint SET commits = commits + 1, next_offset = next_offset + $2
			WHERE consumer = 'store' AND log = 1 AND partition = $1 RETURNING commits`, partition, n).Scan(&commit); err != nil {
			return err
		}
		var rows [][]any
		for i := range n {
			at := around.Add(-time.Duration(rng.Int64N(int64(spread)))).Truncate(time.Microsecond)
			var severity *int16
			if r := int16(rng.IntN(10)); r > 0 && r < 9 {
				severity = &r
			}
			var tags, facets []string
			for _, tag := range []string{"a", "b", "c"} {
				if rng.IntN(3) == 0 {
					tags = append(tags, tag)
				}
			}
			facets = append(facets, fmt.Sprintf("device=d%d", rng.IntN(50)))
			for _, room := range []string{"hall", "x=y"} {
				if rng.IntN(3) == 0 {
					facets = append(facets, "room="+room)
				}
			}
			rows = append(rows, []any{
				at, int16(1), int32(partition), commit*1000 + int64(i), commit, at, int64(0), severity, fmt.Sprintf("/s/%d", rng.IntN(4)),
				fmt.Sprintf("%d-%d-%d", partition, commit, i), fmt.Sprintf("t.%d", rng.IntN(3)), "", tags, facets,
			})
		}
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{"event"}, []string{
			"occurred_at", "log", "partition", "offset", "commit", "kafka_time", "digest", "severity", "source", "id", "type", "time_text", "tags", "facets",
		}, pgx.CopyFromRows(rows)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO rollup_minute AS r (bucket, log, partition, severity, n, errors)
			SELECT date_trunc('minute', occurred_at, 'UTC'), log, partition, coalesce(severity, 0), count(*), count(*) FILTER (WHERE severity >= 6)
			  FROM event WHERE log = 1 AND partition = $1 AND commit = $2 GROUP BY 1, 2, 3, 4
			ON CONFLICT (bucket, log, partition, severity) DO UPDATE SET n = r.n + EXCLUDED.n, errors = r.errors + EXCLUDED.errors`, partition, commit); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO rollup_quarter AS r (bucket, log, partition, dimension, value, n, errors)
			SELECT date_bin('15 minutes', occurred_at, '2000-01-01 00:00+00'), log, partition, d.dimension, d.value, count(*), count(*) FILTER (WHERE e.severity >= 6)
			  FROM event e, event_dimensions(e.severity, e.type, e.source, e.tags, e.facets, e.facets_version) d
			 WHERE log = 1 AND partition = $1 AND commit = $2 GROUP BY 1, 2, 3, 4, 5
			ON CONFLICT (bucket, log, partition, dimension, value) DO UPDATE SET n = r.n + EXCLUDED.n, errors = r.errors + EXCLUDED.errors`, partition, commit)
		return err
	})
}

// counted is what the rows say: the oracle of the rollups.
func counted(ctx context.Context, ses *session, q *rollupRead) (map[string]string, error) {
	s := &statement{}
	bucket := "1"
	if q.edges != nil {
		bucket = "width_bucket(occurred_at, " + s.param(times(q.edges), "timestamptz[]") + ")"
	}
	p := rollupParts{statement: s, q: q}
	sql := "SELECT " + bucket + ", d.dimension, d.value, count(*), count(*) FILTER (WHERE e.severity >= 6) FROM event e, " +
		"event_dimensions(e.severity, e.type, e.source, e.tags, e.facets, e.facets_version) d WHERE " + p.within("occurred_at", q.window) +
		" AND " + s.inside(q.vector) + " AND d.dimension = ANY (" + s.param(q.dimensions, "text[]") + ")"
	if q.values != nil {
		sql += " AND d.value = ANY (" + s.param(q.values, "text[]") + ")"
	}
	rows, err := ses.Query(ctx, sql+" GROUP BY 1, 2, 3", s.args...)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	var r rollupRow
	_, err = pgx.ForEachRow(rows, []any{&r.bucket, &r.dimension, &r.value, &r.n, &r.errors}, func() error {
		out[fmt.Sprintf("%d %s %s", r.bucket, r.dimension, r.value)] = fmt.Sprint(r.n, r.errors)
		return nil
	})
	return out, err
}

func mapped(rows []rollupRow) map[string]string {
	out := map[string]string{}
	for _, r := range rows {
		out[fmt.Sprintf("%d %s %s", r.bucket, r.dimension, r.value)] = fmt.Sprint(r.n, r.errors)
	}
	return out
}

func differing(got, want map[string]string) string {
	var lines []string
	for k, w := range want {
		if got[k] != w {
			lines = append(lines, fmt.Sprintf("%s: %q, want %s", k, got[k], w))
		}
	}
	for k, g := range got {
		if _, ok := want[k]; !ok {
			lines = append(lines, fmt.Sprintf("%s: %s, want nothing", k, g))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines[:min(len(lines), 6)], "\n")
}

// rolledStore is a store with partitions whose rollups writeBatch fills, for the days before noon.
func rolledStore(t testing.TB, partitions, days int) (*store, *maintain.Maintainer) {
	t.Helper()
	st := newStore(t)
	if err := schema.EnsureDays(t.Context(), st.pool, noon().AddDate(0, 0, -days), noon().AddDate(0, 0, 1)); err != nil {
		t.Fatal(err)
	}
	for p := range partitions {
		st.commits(int32(p), 0)
	}
	app := dbtest.Open(t, dbtest.AppURL(t, st.pool.Config().ConnString()))
	return st, maintain.New(app, 91*24*time.Hour, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
}

// randomRead asks something about a view: any bounds, any zone, any dimensions.
func randomRead(t testing.TB, rng *rand.Rand, v vector, days int) *rollupRead {
	span := func() int64 { return rng.Int64N(int64(days+1) * microsPerDay) }
	from := noon().UnixMicro() - span()
	if rng.IntN(3) == 0 {
		from = floorDiv(from, microsPerHour) * microsPerHour
	}
	until := from + 1 + span()
	if rng.IntN(4) == 0 {
		until = from + 1 + rng.Int64N(3*microsPerHour)
	}
	q := &rollupRead{most: 1_000_000, now: noon().UnixMicro(), vector: v, window: run{from, until}}
	all := []string{dimensionSeverity, dimensionType, dimensionSource, dimensionTag, "room"}
	switch rng.IntN(4) {
	case 0:
		q.dimensions = all
	case 1:
		q.dimensions = []string{dimensionSeverity}
		if rng.IntN(2) == 0 {
			q.values = []string{"6", "0", "3"}
		}
	default:
		q.dimensions = all[rng.IntN(len(all)):][:1]
		if rng.IntN(2) == 0 {
			q.values = []string{"t.1", "/s/2", "a", "x=y", "hall", "2"}
		}
	}
	switch rng.IntN(3) {
	case 0:
		if rng.IntN(2) == 0 {
			q.window.until = forever
		}
	default:
		zones := []string{"UTC", "Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe"}
		loc := zone(t, zones[rng.IntN(len(zones))])
		for _, i := range rng.Perm(len(ladder())) {
			edges, ok := ladder()[i].edges(loc, time.UnixMicro(q.window.from), time.UnixMicro(q.window.until), 120)
			if !ok {
				continue
			}
			q.edges = nil
			for _, e := range edges {
				q.edges = append(q.edges, e.UnixMicro())
			}
			if q.aligned() {
				break
			}
			q.edges = nil
		}
	}
	return q
}

func TestRollupsCountTheRows(t *testing.T) {
	t.Parallel()
	const partitions, days = 3, 4
	st, m := rolledStore(t, partitions, days)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	defer writers.Wait()
	defer stop()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	fill := rand.New(rand.NewPCG(seed, 1))
	for i := range 60 {
		if err := writeBatch(ctx, st.pool, fill, i%partitions, 50, noon(), days*24*time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for p := range partitions {
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(p)+2))
			for range 300 {
				if ctx.Err() != nil {
					return
				}
				spread := time.Hour
				if rng.IntN(3) == 0 {
					spread = days * 24 * time.Hour
				}
				if err := writeBatch(ctx, st.pool, rng, p, 1+rng.IntN(20), noon().Add(time.Minute), spread); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Go(func() {
		for ctx.Err() == nil {
			if err := m.Fold(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	rng := rand.New(rand.NewPCG(seed, 99))
	views := []vector{{}}
	for i := range 250 {
		err := st.svc.run(ctx, "count", nil, func(ctx context.Context, ses *session) error {
			v, err := st.svc.freeze(ctx, ses, query.Filter{})
			if err != nil {
				return err
			}
			views = append(views, v.upper)
			old := views[rng.IntN(len(views))]
			if rng.IntN(2) == 0 {
				old = v.upper
			}
			q := randomRead(t, rng, old, days)
			want, err := counted(ctx, ses, q)
			if err != nil {
				return err
			}
			rows, err := readRollups(ctx, ses, q)
			if err != nil {
				return err
			}
			if d := differing(mapped(rows), want); d != "" {
				t.Errorf("question %d, %v %v of %v in %d buckets:\n%s", i, q.dimensions, q.values, q.window, len(q.edges)-1, d)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			return
		}
	}
}

func TestRollupsRefuseAViewThatIsTooFarAway(t *testing.T) {
	t.Parallel()
	st, m := rolledStore(t, 1, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3 {
		if err := writeBatch(t.Context(), st.pool, rng, 0, 50, noon(), 5*time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	read := func(seen int64, most int) (total int64, err error) {
		err = st.svc.run(t.Context(), "count", nil, func(ctx context.Context, ses *session) error {
			rows, err := readRollups(ctx, ses, &rollupRead{
				dimensions: []string{dimensionSeverity}, window: run{noon().AddDate(0, 0, -1).UnixMicro(), forever},
				now: noon().UnixMicro(), vector: vector{{1, 0, seen}}, most: most,
			})
			for _, r := range rows {
				total += r.n
			}
			return err
		})
		return total, err
	}
	// Nothing is folded: the hours lack everything, the minutes nothing.
	if n, err := read(3, 10); err != nil || n != 150 {
		t.Errorf("%d, %v: want the shorter rollups to answer for hours that are far behind", n, err)
	}
	if n, err := read(2, 10); !errors.Is(err, errRollupDelta) {
		t.Errorf("%d, %v: want a refusal where 50 rows are newer than the view", n, err)
	}
	if n, err := read(2, 50); err != nil || n != 100 {
		t.Errorf("%d, %v: want 100", n, err)
	}
	if err := m.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := read(1, 100); err != nil || n != 50 {
		t.Errorf("%d, %v: want 50", n, err)
	}
}
