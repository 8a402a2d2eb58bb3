package outbox

import (
	"testing"
	"time"

	"oriel/server/dbtest"
)

func TestMessagesArePublishedInTheOrderOfTheirKeyAndGoFromTheTable(t *testing.T) {
	t.Parallel()
	eachBroker(t, 3, func(t *testing.T, r *rig) {
		keys := []string{"a", "b", "c", "d", "e"}
		var want []string
		for _, k := range keys {
			r.enqueue(r.topic, k, 0, 100)
			want = append(want, values(k, 0, 100)...)
		}
		rel := r.start(nil)
		r.drained()
		if repeats := r.expectAll(r.topic, want); repeats != 0 {
			t.Errorf("%d repeats", repeats)
		}
		r.expectOrder(r.topic)
		if n := rel.value(t, "published_total", ""); n != 500 {
			t.Errorf("%v published", n)
		}
	})
}

// The table is empty, and known to be, while the relay begins to look: what is planned for that must not last.
func TestABacklogThatComesAtOnceDrainsFast(t *testing.T) {
	t.Parallel()
	eachBroker(t, 6, func(t *testing.T, r *rig) {
		const n = 20_000
		r.exec("ALTER TABLE outbox SET (autovacuum_enabled = false)")
		r.exec("ANALYZE outbox")
		rel := r.start(nil)
		r.await("it holds its shards", func() bool { return rel.Leases() == shardCount })
		for i := range 10 { // as many looks as it takes until a plan is kept
			r.spread(r.topic, "few"+string(rune('a'+i)), 1)
			r.drained()
		}
		began := time.Now()
		r.spread(r.topic, "k", n)
		r.drained()
		took := time.Since(began)
		t.Logf("%d messages in %s", n, took)
		if took > 20*time.Second {
			t.Errorf("%d messages took %s", n, took)
		}
		if got := len(r.published(r.topic)); got != n+10 {
			t.Errorf("%d records of %d messages", got, n+10)
		}
	})
}

func TestAMessageThatCommitsLateIsPublishedAllTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1).Brokers, "")
	r.topic = r.newTopic(1, nil)
	r.start(nil)
	tx, err := r.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO outbox (order_key, seq, topic, record_value) VALUES ('early', 0, $1, 'early 0')", r.topic); err != nil {
		t.Fatal(err)
	}
	r.enqueue(r.topic, "late", 0, 1)
	r.await("the later one is published", func() bool { return len(r.published(r.topic)) == 1 })
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.await("the earlier one too", func() bool { return len(r.published(r.topic)) == 2 })
	r.expectAll(r.topic, []string{"early 0", "late 0"})
}

func TestWhatRollsBackIsNeverPublished(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1).Brokers, "")
	r.topic = r.newTopic(1, nil)
	r.start(nil)
	tx, err := r.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO outbox (order_key, seq, topic, record_value) VALUES ('never', 0, $1, 'never 0')", r.topic); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.enqueue(r.topic, "after", 0, 1)
	r.drained()
	r.expectAll(r.topic, []string{"after 0"})
}

func TestHeadersAndBytesArePublishedAsTheyAre(t *testing.T) {
	t.Parallel()
	eachBroker(t, 1, func(t *testing.T, r *rig) {
		r.start(nil)
		headers := [][]byte{[]byte("b"), {0xff, 0}, []byte("a"), nil, []byte("b"), {}}
		r.exec("INSERT INTO outbox (order_key, seq, topic, record_key, headers, record_value) VALUES ('k', 0, $1, $2, $3, $4)",
			r.topic, []byte{0xfe, 1}, headers, []byte{0, 0xff})
		r.drained()
		r.exec("INSERT INTO outbox (order_key, seq, topic) VALUES ('k', 1, $1)", r.topic)
		r.drained()
		got := r.published(r.topic)
		if len(got) != 2 {
			t.Fatalf("%d records", len(got))
		}
		if rec := got[0]; string(rec.Key) != "\xfe\x01" || string(rec.Value) != "\x00\xff" || len(rec.Headers) != 3 ||
			rec.Headers[0].Key != "b" || string(rec.Headers[0].Value) != "\xff\x00" || rec.Headers[1].Key != "a" ||
			rec.Headers[1].Value != nil || rec.Headers[2].Value == nil || len(rec.Headers[2].Value) != 0 {
			t.Errorf("got %q %q %v", rec.Key, rec.Value, rec.Headers)
		}
		if rec := got[1]; rec.Key != nil || rec.Value != nil || len(rec.Headers) != 0 {
			t.Errorf("got %q %q %v", rec.Key, rec.Value, rec.Headers)
		}
	})
}

func TestAWakeUpIsAHintAndPollingTheMechanism(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1).Brokers, "")
	r.topic = r.newTopic(1, nil)
	rel := r.start(func(c *Config) { c.TTL, c.PollMin, c.PollMax = time.Second, time.Hour, time.Hour })
	r.await("it holds its shards", func() bool { return rel.Leases() == shardCount })
	r.enqueue(r.topic, "k", 0, 1)
	rel.Wake()
	r.drained()
	r.halt(rel)
	r.start(nil)
	r.enqueue(r.topic, "k", 1, 1)
	r.drained() // nobody said a word
	r.expectAll(r.topic, values("k", 0, 2))
}
