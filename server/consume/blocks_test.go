package consume

import (
	"fmt"
	"testing"
	"time"

	"oriel/server/block"
	"oriel/server/cloudevents"
	"oriel/server/dbtest"
	"oriel/server/lexicon"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestWhateverAnEventCarriesItsIdentifiersAreInABlock(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		now := time.Now()
		var recs []*kgo.Record
		for i, change := range []func(*cloudevents.Event){
			func(*cloudevents.Event) {},
			func(e *cloudevents.Event) { e.Subject = "" },
			func(e *cloudevents.Event) { e.DataContentType = "" },
			func(e *cloudevents.Event) {
				e.DataContentType, e.Data = "text/plain", []byte("order 4f2a9c01-77aa-4e1b-9d10-5a8e2b6c7d90 has left")
			},
			func(e *cloudevents.Event) { e.Data = []byte(`{"broken": 123456789`) },
			func(e *cloudevents.Event) { e.Data = nil },
			func(e *cloudevents.Event) {
				e.DataContentType, e.Data = "application/octet-stream", []byte{0, 255, 12}
			},
			func(e *cloudevents.Event) {
				e.Extensions = []cloudevents.Extension{
					{Name: "sampledrate", Type: cloudevents.Integer, Value: "1234567"},
					{Name: "traceparent", Value: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
				}
			},
			func(e *cloudevents.Event) { at(e, now.Add(-30*time.Hour)) },
			func(e *cloudevents.Event) { at(e, now.Add(-30*24*time.Hour)) },
		} {
			for p := range int32(2) {
				e := event(fmt.Sprintf("e-%d-%d-7f3a9c", i, p))
				change(e)
				recs = append(recs, record(e, p))
			}
		}
		recs = append(recs, recs[0], recs[3]) // twice
		r.produce(recs...)
		r.start(nil)
		r.settle() // compares blocks with events
		r.expect(tally{stored: 20, duplicate: 2})
		if n := r.count("SELECT count(*) FROM event_block"); n < 6 {
			t.Errorf("%d blocks of three days and two partitions", n)
		}
	})
}

func TestABlockHoldsOnlyTheRowsThatWentIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	now := time.Now()
	first, second := at(event("first"), now), at(event("second"), now)
	r.produce(record(first, 0))
	m := r.start(nil)
	r.settle()
	r.halt(m)
	// The same again, another content under its name, and one that is new: all in one batch.
	other := at(event("first"), now)
	other.Data = []byte(`{"other":1}`)
	r.produce(record(first, 0), record(other, 0), record(second, 0))
	r.start(nil)
	r.settle()
	r.expect(tally{stored: 2, duplicate: 1, dead: 1})
	if n := r.count("SELECT count(*) FROM event_block WHERE rows = 1"); n != 2 {
		t.Errorf("%d blocks of one row", n)
	}

	// Only what was there before: no block at all.
	r.produce(record(first, 0), record(second, 0))
	r.settle()
	if n := r.count("SELECT count(*) FROM event_block"); n != 2 {
		t.Errorf("duplicates made %d blocks", n-2)
	}
	// The identity is a key, and no other row has it.
	var raw []byte
	r.one(&raw, "SELECT key FROM lexicon_version")
	key := block.Key(uint64(lexicon.Identity(lexicon.Key(raw), first.Source, first.ID).Hash))
	found := 0
	rows, err := r.pool.Query(t.Context(), "SELECT rows, buckets, entries, base_offset, keys, lists, places FROM event_block")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var b block.Block
		if err := rows.Scan(&b.Rows, &b.Buckets, &b.Entries, &b.BaseOffset, &b.Keys, &b.Lists, &b.Places); err != nil {
			t.Fatal(err)
		}
		o, err := b.Probe(key)
		if err != nil {
			t.Fatal(err)
		}
		found += len(o)
	}
	if found != 1 || rows.Err() != nil {
		t.Errorf("the identity is found %d times, %v", found, rows.Err())
	}
}

// While replicas are exchanged one by one, one of the build before may have written without blocks.
func TestCommitsOfABuildThatWritesNoBlocksAreRemembered(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	r.produce(series(0, 0, 10)...)
	m := r.start(nil)
	r.settle()
	r.halt(m)
	commits := r.count("SELECT commits FROM checkpoint")
	if n := r.count("SELECT count(*) FROM checkpoint WHERE blocks = commits"); n != 1 || commits == 0 {
		t.Fatalf("commits without blocks: %s", r.picture())
	}
	if _, err := r.move(0, 0, nil); err != nil { // a commit of its own, of no rows
		t.Fatal(err)
	}
	m = r.start(nil)
	r.settle()
	r.halt(m)
	if n := r.count("SELECT count(*) FROM block_gap"); n != 0 {
		t.Error("moving a checkpoint made a gap")
	}

	r.exec("UPDATE checkpoint SET commits = commits + 3") // as that build's statement
	gap := r.count("SELECT commits FROM checkpoint")
	r.produce(series(0, 10, 10)...)
	r.start(nil)
	r.await("it goes on", func() bool { return r.count("SELECT count(*) FROM event") == 20 })
	if n := r.count("SELECT through_commit FROM block_gap WHERE log = 1 AND partition = 0"); n != gap {
		t.Errorf("the gap goes through commit %d, want %d", n, gap)
	}
	if n := r.count("SELECT count(*) FROM checkpoint WHERE blocks = commits AND commits > $1", gap); n != 1 {
		t.Errorf("the checkpoint: %s", r.picture())
	}
}
