package consume

import (
	"fmt"
	"testing"
	"time"

	"oriel/server/dbtest"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestOneTakenIdentityMakesTheNextBatchesCautious(t *testing.T) {
	t.Parallel()
	var c caution
	if c.way() != atOnce {
		t.Fatal("the first batch does not go in at once")
	}
	if c.taken() != staged {
		t.Fatal("a batch that could not go in at once is not staged")
	}
	for n := range cautious {
		if c.way() != staged {
			t.Fatalf("batch %d is not staged", n)
		}
		c.learn(staged, 0)
	}
	if c.way() != atOnce {
		t.Fatalf("after %d batches without a taken identity the next is staged still", cautious)
	}
	c.taken()
	for range cautious - 1 {
		c.learn(staged, 0)
	}
	c.learn(staged, 1)
	c.learn(alone, 0)
	c.learn(staged, 0)
	if c.way() != staged {
		t.Error("a taken identity among staged batches does not keep them staged")
	}
}

// Events that a producer sent twice are few and far between: a batch that has one goes through the staging
// table, as those after it do, and in between batches go in at once.
func TestABatchWithATakenIdentityIsStoredByTheOtherWay(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		when := time.Now()
		some := func(partition int32, from, to int) (recs []*kgo.Record) {
			for i := from; i < to; i++ {
				recs = append(recs, record(at(event(fmt.Sprintf("e-%04d", i)), when), partition))
			}
			return recs
		}
		m := r.start(func(c *Config) { c.BatchRecords, c.BatchAge = 20, time.Second })
		restaged := func() float64 { return m.value(t, "oriel_consumer_restaged_total") }
		r.produce(some(0, 0, 100)...)
		r.settle()
		if n := restaged(); n != 0 {
			t.Fatalf("%v fresh batches did not go in at once", n)
		}
		r.produce(some(1, 99, 300)...) // the first is stored
		r.settle()
		r.expect(tally{stored: 300, duplicate: 1})
		if n := restaged(); n != 1 {
			t.Errorf("%v batches were found out, want 1", n)
		}
		// All rows have their batch's number, whichever way they came.
		if n := r.count(`SELECT count(*) FROM event e JOIN ledger l USING (log, partition, commit)
			WHERE e."offset" >= l.from_offset AND e."offset" < l.to_offset AND e.facets_version = 1`); n != 300 {
			t.Errorf("%d rows are of the batch that the ledger has", n)
		}
		r.produce(some(1, 299, 300+20*cautious)...)
		r.settle()
		if n := restaged(); n != 1 {
			t.Errorf("a cautious worker tried %v batches at once in vain", n-1)
		}
	})
}
