package search

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/dbtest"
	"oriel/server/lexicon"
	"oriel/server/query"
)

// bulk stores n representative events over the days before noon: 40 types, 200 sources and 2,000
// subjects, all skewed, 2 % errors, 30 lexemes of which one in a thousand rows has "rare", one in a
// hundred "seldom" and three in four "common". payload is the bytes of data.
func (st *store) bulk(n, days, payload int) {
	st.t.Helper()
	for d := range days + 1 {
		st.day(noon().AddDate(0, 0, -d))
	}
	hash := func(word string) int64 { return lexicon.Compile(st.key, word).Conditions[0].Hash }
	st.exec(`INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, severity, source, id, type, subject,
	           time_text, datacontenttype, lexemes, data)
	         SELECT at, 1, (i % 6)::int, i, 1 + i / 500, at, i, CASE WHEN i % 50 = 0 THEN 6 WHEN i % 7 = 0 THEN NULL ELSE 1 + i % 5 END,
	           '/source/' || floor(200 * power(random(), 3)), 'id-' || i, 'type.' || floor(40 * power(random(), 3)),
	           'subject-' || floor(2000 * power(random(), 3)), at::text, 'application/json',
	           array_remove((SELECT array_agg(floor(1e6 + 800 * power(random(), 2))::bigint + 0 * s) FROM generate_series(1, 28 + (g.i % 2)::int) s)
	             || CASE WHEN i % 1000 = 7 THEN $4::bigint END || CASE WHEN i % 100 = 5 THEN $5::bigint END
	             || CASE WHEN i % 4 <> 0 THEN $6::bigint END, NULL),
	           convert_to('{"text":"' || CASE WHEN i % 1000 = 7 THEN 'rare ' WHEN i % 100 = 5 THEN 'seldom ' ELSE '' END || repeat(md5(i::text), $3 / 32) || '"}', 'UTF8')
	         FROM (SELECT i, $2::timestamptz - i * (make_interval(days => $7) / $1) AS at FROM generate_series(0, $1 - 1) i) g`,
		n, noon(), payload, hash("rare"), hash("seldom"), hash("common"), days)
	for p := range int32(6) {
		st.commits(p, int64(n/500)+1)
	}
	if _, err := st.pool.Exec(context.Background(), `VACUUM ANALYZE event`); err != nil {
		st.t.Fatal(err)
	}
}

// whereOf is the conditions of some parameters.
func (st *store) whereOf(params ...string) query.And {
	st.t.Helper()
	d := newDecoder(values(params...))
	r := st.svc.search(d)
	if err := d.err(); err != nil {
		st.t.Fatal(err)
	}
	return r.filter.Where
}

func TestEveryIndexIsUsedByTheQueryItServes(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.bulk(50_000, 12, 200)
	parents := st.parentIndexes()
	v, err := parseSnapshot(st.list("from", "-12d", "until", "now").Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	all := v.window
	day := query.Window{From: query.InstantOf(noon().Truncate(oneDay)), Until: all.Until}
	f := func(params ...string) (query.And, *facts) {
		where := st.whereOf(params...)
		known, err := st.svc.loadFacts(t.Context(), st.pool, where)
		if err != nil {
			t.Fatal(err)
		}
		return where, known
	}
	run := func(w query.Window, from origin, c *cut, params ...string) (string, []any) {
		where, known := f(params...)
		q := question{where: where, view: v, window: w, origin: from, cut: c, limit: 101}
		return q.compile(known)
	}
	probe := func(w query.Window, params ...string) (string, []any) {
		where, known := f(params...)
		return compileProbe(known.routeOf(where), v, w, 1001, known)
	}
	arrived := *v
	arrived.lower, arrived.arrivedOnly = vector{{1, 0, 90}, {1, 1, 95}}, true
	for name, c := range map[string]struct {
		want string
		days int // at most so many partitions are read
		sql  func() (string, []any)
	}{
		"the newest page": {"event_page", 1, func() (string, []any) { return run(day, fromPlanner, nil) }},
		"a page far back": {"event_page", 3, func() (string, []any) {
			return run(all, fromPlanner, &cut{key{at: noon().AddDate(0, 0, -10).UnixMicro()}, false})
		}},
		"a walk":               {"event_page", 1, func() (string, []any) { return run(day, fromPageIndex, nil, "subject!", "subject-1") }},
		"one type":             {"event_type", 13, func() (string, []any) { return run(all, fromPlanner, nil, "type", "type.39") }},
		"one source":           {"event_source", 13, func() (string, []any) { return run(all, fromPlanner, nil, "source", "/source/199") }},
		"one subject":          {"event_subject", 13, func() (string, []any) { return run(all, fromPlanner, nil, "subject", "subject-1999") }},
		"errors":               {"event_error", 13, func() (string, []any) { return run(all, fromPlanner, nil, "severity", "error") }},
		"hits of a rare word":  {"event_lexemes", 13, func() (string, []any) { return probe(all, "q", "rare") }},
		"hits within one day":  {"event_lexemes", 1, func() (string, []any) { return probe(day, "q", "seldom") }},
		"hits of an absent":    {"event_lexemes", 13, func() (string, []any) { return probe(all, "q", "absentee") }},
		"hits of alternatives": {"event_lexemes", 13, func() (string, []any) { return probe(all, "q", "rare OR absentee") }},
		"what arrived since":   {"event_commit", 13, func() (string, []any) { return compileArrivals(&arrived, 1001) }},
		"three fields": {"event_", 13, func() (string, []any) {
			return run(all, fromPlanner, nil, "type", "type.39", "source", "/source/150", "severity", "error")
		}},
		"an identity with its time": {"event_", 1, func() (string, []any) {
			return `SELECT * FROM event WHERE occurred_at = $1 AND source = $2 AND id = $3`, []any{noon(), "/source/1", "id-0"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sql, args := c.sql()
			plan := st.explain(t, sql, args)
			if !plan.uses(parents, c.want) {
				t.Errorf("does not use %s:\n%s", c.want, plan)
			}
			if n := plan.partitions(); n > c.days {
				t.Errorf("reads %d partitions:\n%s", n, plan)
			}
		})
	}
	t.Run("rows at places, planned once", func(t *testing.T) {
		t.Parallel()
		sql, args := compilePlaces([]key{{at: noon().UnixMicro(), log: 1, offset: 1}}, false)
		var got plan
		err := st.svc.run(t.Context(), "list", nil, func(ctx context.Context, ses *session) error {
			on, err := ses.once(ctx)
			if err != nil {
				return err
			}
			got, err = explainOn(ctx, on, sql, args)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		// Of a day that was empty it does not matter which index begins with the time.
		filled, _, _ := strings.Cut(string(got), "on event_20261201")
		if !plan(filled[:strings.LastIndex(filled, "Index Cond")]).uses(parents, "event_page") || strings.Contains(string(got), "Seq Scan") {
			t.Errorf("does not use event_page:\n%s", got)
		}
	})
	for name, c := range map[string]struct {
		want, sql string
		args      []any
	}{
		"what had arrived": {"_consumer_log_partition_committed_at_idx", `SELECT l.commit FROM ledger l WHERE l.consumer = 'store' AND l.log = $1 AND l.partition = $2
			AND l.committed_at < $3 ORDER BY l.committed_at DESC LIMIT 50`, []any{int16(1), int32(0), noon()}},
		"the types of a path":     {"type_path_path", `SELECT type FROM type_path WHERE path = $1 AND kinds & $2::smallint <> 0 LIMIT 5`, []any{"x", int16(3)}},
		"the words with a prefix": {"term_pkey", `SELECT DISTINCT hash FROM term WHERE word >= $1 AND word < $2 AND strpos(word, '=') = 0 LIMIT 5`, []any{"x", "y"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := dbtest.New(t) // with enough of everything that an index is worth its while
			for _, sql := range []string{
				`SELECT ensure_day('ledger', '2026-11-30')`,
				`INSERT INTO ledger SELECT 'store', 1, p, i, i, i, 1, 0, 0, 0, 0, '2026-11-30'::timestamptz + i * interval '1 second'
				   FROM generate_series(1, 20000) i, generate_series(0, 1) p`,
				`INSERT INTO type_path SELECT 't' || i, 'p' || i % 500, 3 FROM generate_series(1, 20000) i`,
				`INSERT INTO term SELECT 'w' || i, 1, i FROM generate_series(1, 20000) i`,
				`ANALYZE`,
			} {
				if _, err := own.Exec(context.Background(), sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
			plan := (&store{pool: own}).explain(t, c.sql, c.args)
			if !strings.Contains(string(plan), c.want) || strings.Contains(string(plan), "Seq Scan on "+strings.Fields(c.sql[strings.Index(c.sql, "FROM "):])[1]) {
				t.Errorf("does not use %s:\n%s", c.want, plan)
			}
		})
	}
}

// What is asked of all days is planned once a connection, however the filters differ; a search that ends within its
// first day plans for no other. With a month of days planning is most of what such a search would cost.
func TestSearchesOverAMonthDoNotPlanForEveryDay(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	st := newStoreOn(t, url)
	st.bulk(4_000, 35, 64)
	st.add(spread(20, time.Hour)...)
	config, err := poolConfig(dbtest.ReadURL(t, url))
	if err != nil {
		t.Fatal(err)
	}
	statements := &recorder{}
	config.ConnConfig.Tracer, config.MaxConns, config.MinConns = statements, 2, 0
	st.svc.pool = openWith(t, config)
	for range 4 {
		for n := range 6 {
			st.expect(map[bool]string{true: "", false: "5"}[n > 0], "q", ref(5+100*n)+" "+strings.Repeat("tea ", n), "from", "-35d")
		}
	}
	for _, c := range st.plansOf(t, "event_block", "CROSS JOIN LATERAL") {
		if c.custom > 0 || c.generic == 0 {
			t.Errorf("planned %d times for its values, %d times for all: %s", c.custom, c.generic, c.text)
		}
	}
	statements.reset()
	for _, params := range [][]string{nil, {"type", "type.0"}, {"severity", "info"}, {"q", "common"}} {
		st.list(append(params, "from", "-35d", "pageSize", "5")...)
	}
	for _, s := range statements.all() {
		if !strings.Contains(s.sql, "FROM event WHERE occurred_at") {
			continue
		}
		if n := st.explain(t, s.sql, s.args).partitions(); n > 1 {
			t.Errorf("planned for %d days: %s", n, s.sql)
		}
	}
}

// planned is how often a prepared statement was planned, by the server's own count.
type planned struct {
	text            string
	generic, custom int64
}

// plansOf is the prepared statements of a connection of the service's pool whose text has one of the parts.
func (st *store) plansOf(t *testing.T, parts ...string) (out []planned) {
	t.Helper()
	conn, err := st.svc.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	rows, err := conn.Query(t.Context(), `SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements`)
	if err != nil {
		t.Fatal(err)
	}
	var p planned
	if _, err := pgx.ForEachRow(rows, []any{&p.text, &p.generic, &p.custom}, func() error {
		for _, part := range parts {
			if strings.Contains(p.text, part) {
				out = append(out, p)
				break
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatal("no such statement is prepared")
	}
	return out
}
