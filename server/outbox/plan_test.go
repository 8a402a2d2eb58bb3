package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"oriel/server/db"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// node is one step of a plan that ran.
type node struct {
	Kind     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Loops    float64 `json:"Actual Loops"`
	Rows     float64 `json:"Actual Rows"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Plans    []node  `json:"Plans"`
}

func (n node) walk(f func(node)) {
	f(n)
	for _, p := range n.Plans {
		p.walk(f)
	}
}

// plan is what EXPLAIN ANALYZE says.
type plan struct {
	Root node    `json:"Plan"`
	Took float64 `json:"Execution Time"`
}

var errCaptured = errors.New("captured")

// capture takes the text and the parameters of a statement instead of running it.
type capture struct {
	sql  string
	args []any
}

func (c *capture) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, errCaptured
}

func (c *capture) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	c.sql, c.args = sql, args
	return nil, errCaptured
}

func (c *capture) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	c.sql, c.args = sql, args
	return c
}

func (c *capture) Scan(...any) error { return errCaptured }

// explained runs a statement as the relay does: planned for its values, each time.
func explained(t *testing.T, pool *pgxpool.Pool, run func(*db.Queries) error) plan {
	t.Helper()
	var c capture
	if err := run(db.New(&c)); !errors.Is(err, errCaptured) {
		t.Fatal(err)
	}
	var raw string
	if err := (unprepared{pool}).QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+c.sql, c.args...).Scan(&raw); err != nil {
		t.Fatal(err)
	}
	var plans []plan
	if err := json.Unmarshal([]byte(raw), &plans); err != nil || len(plans) != 1 {
		t.Fatalf("%v: %s", err, raw)
	}
	return plans[0]
}

func TestTheIndexesServeThePollingHoweverMuchIsPending(t *testing.T) {
	t.Parallel()
	all := make([]int16, shardCount)
	for i := range all {
		all[i] = int16(i)
	}
	for _, pending := range []int{1_000, 100_000} {
		for _, analyzed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d pending, statistics %v", pending, analyzed), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, []string{"127.0.0.1:1"}, "letters")
				r.exec("ALTER TABLE outbox SET (autovacuum_enabled = false)")
				// A tenth is of a few busy keys, a hundredth is dead.
				r.exec(`INSERT INTO outbox (order_key, seq, topic, record_value, dead, died_at, reason)
					SELECT CASE WHEN i % 10 = 0 THEN 'busy' || i % 7 ELSE 'k' || i END, i, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END,
					       convert_to(repeat('x', 1500), 'UTF8'), i % 100 = 1, CASE WHEN i % 100 = 1 THEN now() END, CASE WHEN i % 100 = 1 THEN 'TOO_LARGE' END
					  FROM generate_series(1, $1::int) i`, pending)
				if analyzed {
					r.exec("ANALYZE outbox")
				}
				heads := explained(t, r.pool, func(q *db.Queries) error {
					_, err := q.OutboxHeads(context.Background(), db.OutboxHeadsParams{Shards: all, Held: []int64{1, 2, 3}, PerLane: 64})
					return err
				})
				check(t, heads, 4*64*shardCount)
				state := explained(t, r.pool, func(q *db.Queries) error {
					_, err := q.OutboxState(context.Background())
					return err
				})
				check(t, state, float64(100+pending/100+16*shardCount)) // the dead are counted
			})
		}
	}
}

// check requires that every step reads the outbox through an index, and that together they read no more than
// the relay takes at once costs: a few rows for each of 32 shards times 64 messages, however many wait.
func check(t *testing.T, p plan, most float64) {
	t.Helper()
	read := 0.0
	p.Root.walk(func(n node) {
		if n.Relation != "outbox" {
			return
		}
		read += (n.Rows + n.Removed) * n.Loops
		if n.Kind == "Seq Scan" {
			t.Errorf("a step reads all of the outbox")
		}
	})
	t.Logf("%.1f ms, %.0f rows read", p.Took, read)
	if read > most {
		t.Errorf("%.0f rows read, want at most %.0f", read, most)
	}
}
