package fault

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

// checkEverything waits until the checkpoints stand at the log's end and then checks the promises:
// every acknowledged event is stored exactly once, nothing refused is there, and the ledger adds up.
func checkEverything(t *testing.T, in apptest.Installation, l *load) {
	t.Helper()
	pool := dbtest.Open(t, in.Database)
	waitCaughtUp(t, pool, in.Broker)
	checkLedger(t, pool)
	checkBlocks(t, pool)
	rows := count(t, pool)
	for key, o := range l.journal {
		source, id, _ := strings.Cut(key, "\x00")
		n := rows[key]
		if n > 1 {
			t.Errorf("%s %s is stored %d times", source, id, n)
		}
		if o == acked && n != 1 {
			t.Errorf("%s %s was acknowledged and is stored %d times", source, id, n)
		}
		if o == refused && n != 0 {
			t.Errorf("%s %s was refused and is stored", source, id)
		}
	}
	for key := range rows {
		if _, ok := l.journal[key]; !ok {
			t.Errorf("%q is stored and was never sent", key)
		}
	}
	if n := scan[int](t, pool, `SELECT count(*) FROM dead_letter`); n != 0 {
		t.Errorf("%d dead letters, though every record was good", n)
	}
	t.Logf("%d acknowledged, %d unknown, %d refused, %d attempts; %d rows", l.count(acked), l.count(unknown), l.count(refused), l.attempts, len(rows))
}

// count tells how often each event of the load is stored.
func count(t *testing.T, pool *pgxpool.Pool) map[string]int {
	t.Helper()
	rows, err := pool.Query(t.Context(), `SELECT source, id FROM event`)
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	var source, id string
	if _, err := pgx.ForEachRow(rows, []any{&source, &id}, func() error { n[source+"\x00"+id]++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// waitCaughtUp waits until each partition's checkpoint is the end of its log.
func waitCaughtUp(t *testing.T, pool *pgxpool.Pool, b dbtest.Broker) {
	t.Helper()
	var last string
	apptest.Eventually(t, 90*time.Second, func() bool {
		ends := logEnds(t, b, b.Topic)
		rows, err := pool.Query(t.Context(), `
			SELECT c.partition, c.next_offset, c.state FROM checkpoint c JOIN log l ON l.id = c.log
			WHERE l.topic = $1 AND l.id = (SELECT max(id) FROM log WHERE topic = $1)`, b.Topic)
		if err != nil {
			last = err.Error()
			return false
		}
		got := map[int32]int64{}
		var partition int32
		var next int64
		var state string
		if _, err := pgx.ForEachRow(rows, []any{&partition, &next, &state}, func() error { got[partition] = next; return nil }); err != nil {
			last = err.Error()
			return false
		}
		last = fmt.Sprintf("checkpoints %v, log ends %v", got, ends)
		for p, end := range ends {
			if end != got[p] {
				return false
			}
		}
		return true
	}, func() string { return last })
}

// logEnds asks the broker for the end offset of each partition of a topic.
func logEnds(t *testing.T, b dbtest.Broker, topic string) map[int32]int64 {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	listed, err := kadm.NewClient(client).ListEndOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[int32]int64{}
	listed.Each(func(o kadm.ListedOffset) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		ends[o.Partition] = o.Offset
	})
	return ends
}

// checkLedger checks that the ledger adds up: its ranges are adjacent, commits are consecutive and as
// many as the checkpoint says, every offset has one outcome, and stored is the number of rows.
func checkLedger(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	broken := scan[int](t, pool, `
		SELECT count(*) FROM (
			SELECT from_offset, to_offset, commit, stored + duplicate + dead + skipped + expired AS outcomes,
			       lag(to_offset) OVER w AS before, lag(commit) OVER w AS commit_before
			FROM ledger WINDOW w AS (PARTITION BY consumer, log, partition ORDER BY commit)) x
		WHERE outcomes <> to_offset - from_offset
		   OR from_offset <> coalesce(before, 0) OR commit <> coalesce(commit_before, 0) + 1`)
	if broken != 0 {
		t.Errorf("%d rows of the ledger do not fit their neighbours", broken)
	}
	broken = scan[int](t, pool, `
		SELECT count(*) FROM checkpoint c LEFT JOIN LATERAL (
			SELECT count(*) AS n, coalesce(max(to_offset), 0) AS top FROM ledger l
			WHERE l.consumer = c.consumer AND l.log = c.log AND l.partition = c.partition) l ON true
		WHERE c.commits <> l.n OR c.next_offset <> l.top`)
	if broken != 0 {
		t.Errorf("%d checkpoints disagree with the ledger", broken)
	}
	stored := scan[int64](t, pool, `SELECT coalesce(sum(stored), 0)::bigint FROM ledger`)
	if rows := scan[int64](t, pool, `SELECT count(*) FROM event`); rows != stored {
		t.Errorf("the ledger says %d stored, there are %d rows", stored, rows)
	}
	if rolled := scan[int64](t, pool, `SELECT coalesce(sum(n), 0)::bigint FROM rollup_minute`); rolled != stored {
		t.Errorf("the ledger says %d stored, the rollups %d", stored, rolled)
	}
}

func scan[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := pool.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
