package consume

import (
	"fmt"
	"testing"
	"time"

	"oriel/server/dbtest"
	"oriel/server/fault"

	"github.com/twmb/franz-go/pkg/kgo"
)

// countInserts makes a table with a row for every INSERT into event, however many rows that inserts.
func (r *rig) countInserts() func() int {
	r.t.Helper()
	r.exec(`CREATE TABLE inserts (n int)`)
	r.exec(`GRANT ALL ON inserts TO PUBLIC`)
	r.exec(`CREATE FUNCTION count_inserts() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN INSERT INTO inserts VALUES (1); RETURN NULL; END $f$`)
	r.exec(`CREATE TRIGGER count_inserts AFTER INSERT ON event FOR EACH STATEMENT EXECUTE FUNCTION count_inserts()`)
	return func() int { return r.count("SELECT count(*) FROM inserts") }
}

func TestWhatWasMetBeforeIsNotInsertedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	inserts := r.countInserts()
	m := r.start(func(c *Config) { c.BatchRecords = 50 })
	r.produce(series(0, 0, 400)...)
	r.settle()
	fresh := inserts()
	if fresh < 8 {
		t.Fatalf("%d inserts of 8 batches", fresh)
	}
	terms := r.count("SELECT count(*) FROM term")
	if _, err := r.move(0, 0, nil); err != nil {
		t.Fatal(err)
	}
	r.await("all were met again", func() bool { return r.outcomes().duplicate == 400 })
	r.settle()
	r.expect(tally{stored: 400, duplicate: 400})
	if n := inserts(); n != fresh {
		t.Errorf("%d inserts for records that were all stored before", n-fresh)
	}
	// What follows is fresh, and so is a row that is gone.
	r.exec("UPDATE rollup_minute SET n = n - 1 WHERE ctid = (SELECT ctid FROM rollup_minute WHERE n > 0 LIMIT 1)")
	r.exec(`UPDATE rollup_quarter r SET n = n - 1 FROM event e, event_dimensions(e.severity, e.type, e.source, e.tags, e.facets, e.facets_version) d
		WHERE e.id = 'p0-00123' AND (r.dimension, r.value) = (d.dimension, d.value) AND r.bucket = date_bin('15 minutes', e.occurred_at, '2000-01-01 00:00+00')`)
	r.exec("DELETE FROM event WHERE id = 'p0-00123'")
	r.rebuild()
	r.exec("UPDATE ledger SET stored = stored - 1, dead = dead + 1 WHERE commit = (SELECT commit FROM ledger WHERE from_offset <= 123 AND to_offset > 123 AND stored > 0 LIMIT 1)")
	r.produce(series(0, 400, 10)...)
	if _, err := r.move(0, 100, nil); err != nil {
		t.Fatal(err)
	}
	r.settle()
	if n := r.count(`SELECT count(*) FROM event WHERE id IN ('p0-00123', 'p0-00409')`); n != 2 {
		t.Errorf("%d of 2 rows that were not there\n%s", n, r.picture())
	}
	if n := r.count("SELECT count(*) FROM term"); n < terms {
		t.Errorf("%d words of %d", n, terms)
	}
	if n := r.count("SELECT count(*) FROM dead_letter"); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	r.halt(m)
}

// The same events under new offsets, as a producer sends them again or a topic is restored: after the first
// batches most are looked up first, and what differs in content is told apart all the same.
func TestEventsThatAreSentAgainAreDuplicatesByTheirContent(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		inserts := r.countInserts()
		when := time.Now()
		again := func(partition int32, change map[int]bool) (recs []*kgo.Record) {
			for i := range 1000 {
				e := at(event(fmt.Sprintf("e-%04d", i)), when)
				if change[i] {
					e.Data = []byte(`{"other":true}`)
				}
				recs = append(recs, record(e, partition))
			}
			return recs
		}
		r.produce(again(0, nil)...)
		m := r.start(func(c *Config) { c.BatchRecords = 50 })
		r.settle()
		fresh := inserts()
		r.produce(again(1, map[int]bool{0: true, 500: true, 999: true})...)
		r.settle()
		r.expect(tally{stored: 1000, duplicate: 997, dead: 3})
		if n := r.count(`SELECT count(*) FROM dead_letter WHERE partition = 1 AND "offset" IN (0, 500, 999) AND reason = $1
			AND detail LIKE '%stored from log 1, partition 0%' AND convert_from(record_value, 'UTF8') = '{"other":true}'`, fault.ReasonConflictingDuplicate); n != 3 {
			t.Errorf("the letters are not as expected\n%s", r.picture())
		}
		if n := inserts() - fresh; n == 0 || n > 6 {
			t.Errorf("%d batches of 20 were inserted before it was noticed", n)
		}
		// A fresh batch costs no look-up once the storm is over.
		r.produce(series(1, 0, 20)...)
		r.settle()
		lookups := m.value(t, "oriel_consumer_redelivery_lookups_total")
		r.produce(series(1, 20, 200)...)
		r.settle()
		r.expect(tally{stored: 1220, duplicate: 997, dead: 3})
		if n := m.value(t, "oriel_consumer_redelivery_lookups_total") - lookups; n != 0 {
			t.Errorf("%v look-ups for fresh records", n)
		}
	})
}

// An import may have one source and one time for all of its events, among others that have each their own.
func TestALookUpReadsNoOtherEventsOfItsSourceAndInstant(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	when := time.Now().UTC().Truncate(time.Second)
	var recs []*kgo.Record
	for i := range 4000 {
		own := event(fmt.Sprintf("own-%04d", i))
		own.Source = fmt.Sprintf("/sources/%d", i%50)
		recs = append(recs, record(at(event(fmt.Sprintf("same-%04d", i)), when), 0), record(at(own, when.Add(-time.Duration(i)*time.Second)), 0))
	}
	r.produce(recs...)
	m := r.start(nil)
	r.settle()
	r.halt(m)
	r.exec("ANALYZE event")
	const asked = 200
	var ask identities
	for i := range asked {
		e := event(fmt.Sprintf("same-%04d", 20*i))
		ask.add(i, &row{event: e, micros: when.UnixMicro()})
	}
	var plan []struct {
		Plan struct {
			Hit  int     `json:"Shared Hit Blocks"`
			Read int     `json:"Shared Read Blocks"`
			Rows float64 `json:"Actual Rows"`
		}
	}
	conn, err := m.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	explained := conn.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+readHolders, ask.times, ask.sources, ask.ids, ask.rows)
	if err := explained.Scan(&plan); err != nil {
		t.Fatal(err)
	}
	if p := plan[0].Plan; p.Rows != asked || p.Hit+p.Read > 10*asked {
		t.Errorf("%v rows found by reading %d pages for %d identities", p.Rows, p.Hit+p.Read, asked)
	}
}
