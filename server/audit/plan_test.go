package audit

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
)

func newRegistry() *prometheus.Registry { return prometheus.NewRegistry() }

// many makes so many operations, nine of ten with an outcome: few people do most of it.
const many = `
WITH made AS (
    SELECT n, gen_random_uuid() AS operation,
           CASE WHEN n % 1000 = 0 THEN 'token.create' ELSE 'session.signIn' END AS action,
           CASE WHEN n % 5000 = 0 THEN 'Rare Ada' ELSE 'Person ' || n % 40 END AS actor,
           CASE WHEN n % 1000 = 0 THEN 'tokens/' || n ELSE '' END AS target
      FROM generate_series(1, $1::int) n)
INSERT INTO audit (operation, phase, action, outcome, actor_kind, actor, actor_id, roles, target, reason, request_id, address, folded)
SELECT operation, phase, action, CASE phase WHEN 'outcome' THEN 'done' END, 'person', actor, actor, '{admin}', target, 'a reason of usual length for ' || n,
       'req_' || md5(n::text), '192.0.2.7', lower(concat_ws(E'\x1f', actor, action, target, 'a reason of usual length for ' || n, '', 'req_' || md5(n::text)))
  FROM made CROSS JOIN (VALUES ('intent'), ('outcome')) p (phase)
 WHERE phase = 'intent' OR n % 10 <> 0
 ORDER BY n, phase`

// plan is what the database would do for a page of a filter.
func plan(t *testing.T, l *Log, f Filter) string {
	t.Helper()
	tx, err := l.beginReading(t.Context(), pgx.ReadCommitted, fetchFor)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rollback(t.Context(), tx) }()
	sql, args := f.selection(0, DefaultPageSize+1)
	rows, err := query(t.Context(), tx, "EXPLAIN (ANALYZE, COSTS OFF, BUFFERS OFF, SUMMARY OFF) "+sql, args)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func TestAFilterByActionActorOrTargetUsesItsIndex(t *testing.T) {
	t.Parallel()
	l := open(t)
	if _, err := l.pool.Exec(t.Context(), many, 100_000); err != nil {
		t.Fatal(err)
	}
	if _, err := l.pool.Exec(t.Context(), "ANALYZE audit"); err != nil {
		t.Fatal(err)
	}
	removed := regexp.MustCompile(`Rows Removed by Filter: (\d+)`)
	for name, c := range map[string]struct {
		f     Filter
		index string
	}{
		"nothing asked":             {Filter{}, "audit_pkey"},
		"one action":                {Filter{Actions: []string{"token.create"}}, "audit_action_idx"},
		"two actions":               {Filter{Actions: []string{"token.create", "token.revoke"}}, "audit_action_idx"},
		"actions by beginning":      {Filter{Actions: []string{"token.*"}}, "audit_action_idx"},
		"a frequent action":         {Filter{Actions: []string{"session.signIn"}}, ""},
		"one actor":                 {Filter{Actors: []string{"Rare Ada"}}, "audit_actor_idx"},
		"an actor by the beginning": {Filter{Actors: []string{"Rare*"}}, "audit_actor_idx"},
		"an actor nobody knows":     {Filter{Actors: []string{"Nobody"}}, "audit_actor_idx"},
		"one target":                {Filter{Targets: []string{"tokens/7000"}}, "audit_target_idx"},
		"a target by the beginning": {Filter{Targets: []string{"tokens/7*"}}, "audit_target_idx"},
		"an actor and a text":       {Filter{Actors: []string{"Rare Ada"}, Text: "usual"}, "audit_actor_idx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := plan(t, l, c.f)
			if !strings.Contains(got, c.index) || strings.Contains(got, "Seq Scan") {
				t.Errorf("it does not use %s:\n%s", c.index, got)
			}
			for _, m := range removed.FindAllStringSubmatch(got, -1) {
				if len(m[1]) > 3 {
					t.Errorf("it looks at much that it does not show:\n%s", got)
				}
			}
		})
	}
}

// A million operations, cold of any index for the text.
func BenchmarkSearchOfAMillion(b *testing.B) {
	l := open(b)
	if _, err := l.pool.Exec(b.Context(), many, 1_000_000); err != nil {
		b.Fatal(err)
	}
	if _, err := l.pool.Exec(b.Context(), "VACUUM ANALYZE audit"); err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]Filter{
		"nothing asked":         {},
		"a text of the newest":  {Text: "usual length"},
		"a text of one":         {Text: "for 4711x"},
		"a text nowhere":        {Text: "nowhere"},
		"an actor":              {Actors: []string{"Rare Ada"}},
		"an actor without any":  {Actors: []string{"Nobody"}},
		"a target":              {Targets: []string{"tokens/7000"}},
		"targets by beginning":  {Targets: []string{"tokens/*"}},
		"no end":                {Outcomes: []string{Unknown}},
		"refused, of which few": {Outcomes: []string{Refused}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := l.List(b.Context(), f, 0, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("export", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n, err := l.Export(b.Context(), Filter{}, func(*Entry) error { return nil })
			if err != nil || n != 1_000_000 {
				b.Fatal(fmt.Errorf("%d: %w", n, err))
			}
		}
	})
}
