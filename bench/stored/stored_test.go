package stored_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"oriel/bench/stored"
	"oriel/bench/webhooks"
	"oriel/server/dbtest"
)

func TestThePastIsWhatTheConsumerWouldHaveStored(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	until := time.Now().UTC().Add(-time.Hour)
	past := stored.Past{Events: 3001, Hooks: 100, Until: until, Webhooks: "../../" + webhooks.DefaultDir}
	var out bytes.Buffer
	if err := stored.Fill(t.Context(), pool, past, slog.New(slog.DiscardHandler), &out); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		sql  string
		want int
	}{
		"every row is there":              {"SELECT count(*) FROM event", 3101},
		"the ledger has them":             {"SELECT sum(stored) FROM ledger", 3101},
		"the checkpoints are behind them": {"SELECT sum(next_offset) FROM checkpoint", 3101},
		"the minutes sum them up":         {"SELECT sum(n) FROM rollup_minute", 3101},
		"the types sum them up":           {"SELECT sum(n) FROM rollup_quarter WHERE dimension = 'type'", 3101},
		"all are indexed":                 {"SELECT count(*) FROM event WHERE cardinality(lexemes) > 5", 3101},
		"all days have some":              {"SELECT (count(DISTINCT occurred_at::date) >= 30)::int FROM event", 1},
		"none is younger":                 {"SELECT count(*) FROM event WHERE occurred_at >= now() - interval '1 hour'", 0},
		"they are in the order of their time": {`SELECT count(*) FROM (SELECT occurred_at < lag(occurred_at)
			OVER (PARTITION BY log, partition ORDER BY "offset") AS late FROM event) e WHERE late`, 0},
		"short events have identifiers": {`SELECT count(*) FROM event WHERE log = (SELECT id FROM log WHERE topic = 'stored.events')
			AND convert_from(data, 'UTF8') ~ '"requestId":"req_[0-9a-f]{12}","correlationId":"[0-9a-f-]{36}","traceId":"[0-9a-f]{32}","orderNumber":"ORD-[0-9]{8}"'`, 3001},
	} {
		var got int
		if err := pool.QueryRow(t.Context(), c.sql).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
	if !bytes.Contains(out.Bytes(), []byte("stored.events: 3001 rows over 30 days")) {
		t.Errorf("it says %q", out.String())
	}
}
