package outbox

import (
	"testing"
	"time"
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

func TestManyMessagesDrainFast(t *testing.T) {
	t.Parallel()
	eachBroker(t, 6, func(t *testing.T, r *rig) {
		const n = 20_000
		r.spread(r.topic, "k", n)
		rel := r.start(nil)
		r.await("it holds its shards", func() bool { return rel.Leases() == shardCount })
		began := time.Now()
		r.drained()
		t.Logf("%d messages in %s", n, time.Since(began))
		if repeats := r.expectAll(r.topic, spreadValues("k", n)); repeats != 0 {
			t.Errorf("%d repeats", repeats)
		}
	})
}
