package search

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"oriel/server/db"
)

// planned is what EXPLAIN says of a statement that is planned for its values, as searches are.
func (st *store) planned(t testing.TB, sql string, args []any) string {
	t.Helper()
	var lines []string
	err := st.svc.run(context.Background(), "count", nil, func(ctx context.Context, ses *session) error {
		rows, err := ses.Query(ctx, "EXPLAIN "+sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
		if err != nil {
			return err
		}
		lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		t.Fatalf("explain: %v", err)
	}
	return strings.Join(lines, "\n")
}

// month stores n events over 30 days, of 40 types, 200 sources, 2,000 subjects and persons, ten tags, with rollups.
func (st *store) month(n int) {
	st.t.Helper()
	for d := range 31 {
		for _, table := range []string{"event", "rollup_minute", "rollup_quarter", "rollup_hour"} {
			st.exec(`SELECT ensure_day($1, $2::date)`, table, noon().AddDate(0, 0, -d))
		}
	}
	st.exec(`INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, severity, source, id, type, subject, time_text, tags, facets)
		SELECT $1::timestamptz - (interval '30 days' * (i::float8 / $2)), 1, (i * 7 % 12)::int, i, 1 + ($2 - i) / 6000, now(), 0, CASE WHEN i % 50 = 0 THEN 6 WHEN i % 7 = 0 THEN NULL ELSE 1 + i % 5 END,
			'/source/' || floor(200 * power(random(), 3)), i::text, 'type.' || floor(40 * power(random(), 3)), 'subject-' || floor(2000 * power(random(), 3)), '',
			CASE WHEN i % 3 = 0 THEN ARRAY['tag' || i % 10] END, ARRAY['device=d' || i % 5000, 'person=p' || floor(2000 * power(random(), 3)), 'room=' || i % 30]
		  FROM generate_series(1, $2::int) i`, noon(), n)
	for p := range 12 {
		st.commits(int32(p), int64(n/6000)+1)
	}
	st.rollUp()
	st.exec(`VACUUM ANALYZE event, rollup_minute, rollup_quarter, rollup_hour, rollup_day`)
}

func TestRollupsAreReadByTheirIndexes(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.month(24_000)
	progress := func(behind int64) (out []db.RollupProgressRow) {
		for p := range int32(12) {
			out = append(out, db.RollupProgressRow{Log: 1, Partition: p, Commits: 5, Folded: 5 - behind})
		}
		return out
	}
	var v vector
	for p := range int32(12) {
		v = append(v, progressOf(p, 5))
	}
	at := func(s string) int64 { return instant(t, s).UnixMicro() }
	edges := func(unit int64) (out []int64) {
		for e := at("2026-11-10T00:30:00Z"); e <= at("2026-11-28T00:30:00Z"); e += unit {
			out = append(out, e)
		}
		return out
	}
	all := []string{dimensionSeverity, dimensionType, dimensionSource, dimensionTag, "room", "person"}
	const from, until = "2026-11-10T07:03:11.5Z", "2026-11-28T19:41:07Z"
	for name, c := range map[string]struct {
		read   rollupRead
		behind int64
		want   []string // indexes
		never  string
	}{
		"all dimensions": {rollupRead{dimensions: all}, 0, []string{"rollup_day_pkey", "rollup_quarter_"}, "Seq Scan on event"},
		"a value by days in a zone half an hour apart": {
			rollupRead{dimensions: []string{dimensionSource}, values: []string{"/source/3"}, edges: edges(microsPerDay)},
			0,
			[]string{"rollup_hour_", "rollup_quarter_"},
			"Seq Scan on rollup_hour",
		},
		"what is not folded": {rollupRead{dimensions: []string{dimensionType}}, 2, []string{"event_commit"}, "Seq Scan on event"},
		"minutes":            {rollupRead{dimensions: []string{dimensionSeverity}}, 0, []string{"rollup_minute_"}, "Seq Scan on rollup_minute"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.read.window, c.read.now, c.read.vector = run{at(from), at(until)}, noon().UnixMicro(), v
			sql, args := c.read.compile(progress(c.behind), units{days: true, hours: true, minutes: c.read.minutes()})
			plan := st.planned(t, sql, args)
			parents := st.parents()
			used := regexp.MustCompile(`(?:using|on) (\w+_(?:pkey|idx)\w*)`).FindAllStringSubmatch(plan, -1)
			for _, want := range c.want {
				if !slices.ContainsFunc(used, func(u []string) bool { return strings.HasPrefix(u[1], want) || strings.HasPrefix(parents[u[1]], want) }) {
					t.Errorf("not by %s:\n%s", want, plan)
				}
			}
			if strings.Contains(plan, c.never) {
				t.Errorf("%s:\n%s", c.never, plan)
			}
		})
	}
}

func progressOf(partition int32, commits int64) progress { return progress{1, partition, commits} }

// parents is the index that each partition's index belongs to.
func (st *store) parents() map[string]string {
	st.t.Helper()
	rows, err := st.pool.Query(context.Background(), `SELECT c.relname, p.relname FROM pg_inherits i
		JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent WHERE c.relkind = 'i'`)
	if err != nil {
		st.t.Fatal(err)
	}
	out := map[string]string{}
	var child, parent string
	if _, err := pgx.ForEachRow(rows, []any{&child, &parent}, func() error { out[child] = parent; return nil }); err != nil {
		st.t.Fatal(err)
	}
	return out
}

// BenchmarkAggregates asks over a month of 500,000 events, whose rollups have as many rows of each hour as ten million
// would have.
func BenchmarkAggregates(b *testing.B) {
	st := newStore(b)
	st.month(500_000)
	st.svc.limits = defaultLimits(8)
	for _, c := range []struct{ name, what, params string }{
		{"facets of all fields", "facets", ""},
		{"facets of type source severity room tag", "facets", "field=type&field=source&field=severity&field=room&field=tag"},
		{"facets of type under a type", "facets", "type=type.3&field=type"},
		{"facets under a room", "facets", "room=3"},
		{"histogram", "histogram", ""},
		{"histogram by days in Kolkata", "histogram", "interval=1d&zone=Asia/Kolkata"},
		{"histogram by type", "histogram", "splitBy=type"},
		{"histogram of a source", "histogram", "source=/source/3"},
		{"histogram by severity of errors", "histogram", "severity=error&splitBy=severity"},
		{"histogram of a room and a type", "histogram", "room=3&type=type.1"},
		{"histogram by tag", "histogram", "splitBy=tag"},
		{"count", "count", ""},
		{"count of a person", "count", "person=p1"},
		{"fields", "fields", ""},
	} {
		for _, behind := range []int{0, 1} {
			b.Run(fmt.Sprintf("%s, %d commits behind", c.name, behind), func(b *testing.B) {
				st.exec(`UPDATE rollup_fold SET commits = (SELECT max(commits) FROM checkpoint) - $1`, behind)
				v := pairs(c.params)
				v.Set("from", "2026-10-31T15:17:11Z")
				v.Set("until", "now")
				for b.Loop() {
					st.svc.sets = newSets(1)
					var err error
					switch c.what {
					case "facets":
						_, err = st.svc.Facets(b.Context(), v)
					case "histogram":
						_, err = st.svc.Histogram(b.Context(), v)
					case "count":
						_, err = st.svc.Count(b.Context(), v)
					case "fields":
						_, err = st.svc.Fields(b.Context(), v)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// pairs reads name=value&name=value.
func pairs(s string) url.Values {
	out := url.Values{}
	for pair := range strings.SplitSeq(s, "&") {
		if name, v, ok := strings.Cut(pair, "="); ok {
			out.Add(name, v)
		}
	}
	return out
}
