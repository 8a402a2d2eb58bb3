package search

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"oriel/server/db"
)

// plan is what EXPLAIN says.
type plan string

// explain plans a statement as a search does: for the values it carries.
func (st *store) explain(t *testing.T, sql string, args []any) plan {
	t.Helper()
	p, err := explainOn(context.Background(), st.pool, sql, args)
	if err != nil {
		t.Fatalf("explain: %v", err)
	}
	return p
}

func explainOn(ctx context.Context, q db.DBTX, sql string, args []any) (plan, error) {
	rows, err := q.Query(ctx, "EXPLAIN "+sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
	if err != nil {
		return "", err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return plan(strings.Join(lines, "\n")), err
}

// parentIndexes is the index on event that each partition's index belongs to.
func (st *store) parentIndexes() map[string]string {
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

// uses says whether every scan of a partition goes through an index whose name begins like that.
func (p plan) uses(parents map[string]string, index string) bool {
	used := regexp.MustCompile(`(?:using|Index Scan on|Index Scan Backward using) (event_\d+\w+)`).FindAllStringSubmatch(string(p), -1)
	for _, u := range used {
		if !strings.HasPrefix(parents[u[1]], index) {
			return false
		}
	}
	return len(used) > 0 && !strings.Contains(string(p), "Seq Scan")
}

// partitions is how many day partitions the plan reads.
func (p plan) partitions() int {
	days := regexp.MustCompile(`event_(\d{8})`).FindAllString(string(p), -1)
	slices.Sort(days)
	return len(slices.Compact(days))
}
