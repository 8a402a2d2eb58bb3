package consume

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/dbtest"
	"oriel/server/fault"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestARecordThatMakesDecodingPanicIsBuriedAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	r.produce(series(0, 0, 120)...)
	c := r.build(r.pool, nil)
	attempts := 0
	c.decode = func(rec cloudevents.Record) (*cloudevents.Event, []cloudevents.Header, error) {
		e, rest, err := cloudevents.DecodeRecord(rec)
		if err == nil && e.ID == "p0-00107" {
			attempts++
			panic("a bug that this record brings out")
		}
		return e, rest, err
	}
	r.run(c)
	r.settle()
	r.expect(tally{stored: 119, dead: 1})
	if n := r.count(`SELECT count(*) FROM dead_letter WHERE "offset" = 107 AND reason = 'PROCESSING_PANIC' AND id = 'p0-00107'
		AND detail LIKE '%a bug that this record brings out%' AND record_value IS NOT NULL`); n != 1 {
		t.Errorf("the letter is not as expected\n%s", r.picture())
	}
	r.halt(c)
	if attempts != panicPatience+1 {
		t.Errorf("%d attempts", attempts)
	}
	if got := labels(t, c.registry, "oriel_consumer_dead_letters_total", "reason"); got[fault.ReasonPanic] != 1 {
		t.Errorf("counted: %v", got)
	}
}

// inHand is a worker that holds a partition of a new log and stores the batches that a test gives it.
func inHand(t *testing.T) (*rig, *worker) {
	t.Helper()
	url := dbtest.NewURL(t)
	r := &rig{t: t, pool: dbtest.Open(t, url), url: url}
	reg := prometheus.NewRegistry()
	c := New(Config{Consumer: "store", Topic: "t"}, r.pool, nil, slog.New(slog.DiscardHandler), reg, nil)
	key, err := c.lexiconKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.exec(`INSERT INTO log (topic, topic_id) VALUES ('t', '00000000-0000-0000-0000-000000000001')`)
	r.exec(`INSERT INTO checkpoint (consumer, log, partition, next_offset) VALUES ('store', 1, 0, 0)`)
	w := &worker{
		c: c, log: c.log, prep: newPreparer(c, key), pos: position{log: 1},
		soft: t.Context(), hard: t.Context(), fenced: func(*worker) { t.Error("fenced") },
	}
	return r, w
}

func TestARecordThatMakesStoringPanicIsBuriedAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ records, bad, stored int }{
		"one of many":     {120, 107, 119},
		"the only record": {1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := inHand(t)
			b := w.prepareOne(0, placed(series(0, 0, c.records)))
			if b == nil {
				t.Fatal("not prepared")
			}
			b.rows[c.bad].event = nil // the rollups read it
			if !w.store(b) {
				t.Fatal("the worker stopped")
			}
			r.expect(tally{stored: c.stored, dead: 1})
			r.invariants()
			if n := r.count(`SELECT count(*) FROM dead_letter WHERE "offset" = $1 AND reason = 'PROCESSING_PANIC'`, c.bad); n != 1 {
				t.Errorf("the letter is not as expected\n%s", r.picture())
			}
			if n := r.count("SELECT next_offset FROM checkpoint"); n != c.records {
				t.Errorf("the checkpoint is at %d", n)
			}
		})
	}
}

func TestAPanicIsTriedAgainBeforeARecordIsBlamed(t *testing.T) {
	t.Parallel()
	b := &batch{rows: []row{{record: &kgo.Record{}}, {record: &kgo.Record{Offset: 1}}}}
	err := fmt.Errorf("%w: x", errPanic)
	if b.afterPanic(errors.New("another")) != nil || b.afterPanic(err) != nil || b.afterPanic(err) != nil {
		t.Fatal("isolated too early")
	}
	if parts := b.afterPanic(err); len(parts) != 2 || parts[1].from != 1 || parts[1].to != 2 {
		t.Fatalf("parts %+v", parts)
	}
	// A letter that panics, and a marker of Kafka's, are no fault of what the record holds.
	for _, f := range []fate{dead, control} {
		one := &batch{rows: []row{{record: &kgo.Record{}, fate: f}}, panics: panicPatience}
		if one.afterPanic(err) != nil {
			t.Errorf("fate %d was buried again", f)
		}
	}
}

func TestExpiredRecordsAreListedInABoundedLine(t *testing.T) {
	t.Parallel()
	_, w := inHand(t)
	var line bytes.Buffer
	w.log = slog.New(slog.NewJSONHandler(&line, nil))
	w.prep.retention = time.Hour
	var recs []*kgo.Record
	for i := range 30 {
		e := at(event(fmt.Sprintf("old-%02d", i)), time.Now().Add(-2*time.Hour))
		if i == 0 {
			e = event("new")
		}
		recs = append(recs, record(e, 0))
	}
	b := w.prepareOne(0, placed(recs))
	if b == nil || !w.store(b) {
		t.Fatal("not stored")
	}
	got := line.String()
	for _, want := range []string{`"expired":29,"first_offset":1,"last_offset":29`, `{"offset":1,"source":"/homes/1","id":"old-01","time":`, "old-20"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if n := strings.Count(got, `"source"`); n != maxListed || strings.Contains(got, "old-21") {
		t.Errorf("%d records are listed", n)
	}
	// Nothing expired, no line.
	line.Reset()
	if b = w.prepareOne(30, []*kgo.Record{placedAt(record(event("newer"), 0), 30)}); b == nil || !w.store(b) || line.Len() != 0 {
		t.Errorf("a line without cause: %s", line.String())
	}
}

// placed gives records the offsets that a broker would.
func placed(recs []*kgo.Record) []*kgo.Record {
	for i := range recs {
		placedAt(recs[i], int64(i))
	}
	return recs
}

func placedAt(rec *kgo.Record, offset int64) *kgo.Record {
	rec.Offset = offset
	return rec
}
