package consume

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/dbtest"
	"oriel/server/fault"

	"github.com/twmb/franz-go/pkg/kgo"
)

// rowStates are the SQLSTATEs of classes 22 and 23, and of the others, that a row can cause.
func rowStates() []string {
	return strings.Fields(`
		22000 2202E 22021 22008 22012 22005 2200B 22022 22015 2201E 22014 22016 2201F 2201G 22018 22007 22019 2200D 22025
		22P06 22010 22023 22013 2201B 2201W 2201X 2202H 2202G 22009 2200C 2200G 22004 22002 22003 2200H 22026 22001 22011
		22027 22024 2200F 22P01 22P02 22P03 22P04 22P05 2200L 2200M 2200N 2200S 2200T 22030 22031 22032 22033 22034 22035
		22036 22037 22038 22039 2203A 2203B 2203C 2203D 2203E 2203F 2203G
		23000 23001 23502 23503 23505 23514 23P01 21000 P0001 54000 54001 54011 54023`)
}

// One record in nine is refused, each for another reason, by a trigger: at once, or only when COMMIT checks
// what was deferred. It is dead with that very code, and its neighbours are stored in their order.
func TestEveryStateThatARowCanCauseBuriesThatRowAlone(t *testing.T) {
	t.Parallel()
	for name, trigger := range map[string]string{
		"at once":   `CREATE TRIGGER refuse BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION refuse()`,
		"at COMMIT": `CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON event DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, dbtest.NewKfake(t, 1))
			r.exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
				IF NEW.id LIKE 'bad %' THEN
					RAISE EXCEPTION 'not this one' USING ERRCODE = substr(NEW.id, 5, 5), CONSTRAINT = 'by a test';
				END IF;
				RETURN NEW; END $f$`)
			r.exec(trigger)
			states := rowStates()
			var recs []*kgo.Record
			now := time.Now()
			for i, state := range states {
				// Neither the order of times nor that of names is the order of offsets.
				for n := range 4 {
					recs = append(recs, record(at(event(fmt.Sprintf("good %03d before %d", i, n)), now.Add(time.Duration(-7*n)*time.Second)), 0))
				}
				recs = append(recs, record(at(event("bad "+state), now.Add(time.Duration(-i)*time.Second)), 0))
				for n := range 4 {
					recs = append(recs, record(at(event(fmt.Sprintf("good %03d after %d", i, n)), now.Add(time.Duration(-3*n)*time.Second)), 0))
				}
			}
			r.produce(recs...)
			m := r.start(nil)
			r.settle()
			r.expect(tally{stored: 8 * len(states), dead: len(states)})
			for i, state := range states {
				if n := r.count(`SELECT count(*) FROM dead_letter WHERE "offset" = $1 AND reason = $2 AND sqlstate = $3 AND id = 'bad ' || $3
					AND detail LIKE '%not this one%' AND record_value IS NOT NULL`, 9*i+4, fault.ReasonRejected, state); n != 1 {
					t.Errorf("%s: its letter is not as expected", state)
				}
			}
			if t.Failed() {
				t.Log(r.picture())
			}
			// Order: what was stored later in the log was stored in no earlier commit.
			if n := r.count(`SELECT count(*) FROM (SELECT commit < lag(commit) OVER (ORDER BY "offset") AS back FROM event) e WHERE back`); n != 0 {
				t.Errorf("%d rows went in before their predecessors", n)
			}
			// Few records at a time share a transaction with savepoints.
			if n := r.count(`SELECT max(to_offset - from_offset) FROM ledger`); n > isolateChunk {
				t.Errorf("%d records shared a transaction", n)
			}
			if got := m.value(t, "oriel_consumer_retries_total", "class=environment"); got != 0 {
				t.Errorf("%v retries blamed the environment", got)
			}
			if s := m.Status(); !s.Ready() {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// Rows go in by (occurred_at, source, id), together or one by one: two consumers with the same identities
// wait for each other in one order.
func TestRowsAreInsertedInTheOrderOfTheirIdentities(t *testing.T) {
	t.Parallel()
	for name, alone := range map[string]bool{"as a batch": false, "one by one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, dbtest.NewKfake(t, 1))
			r.exec(`CREATE TABLE went_in (n bigint GENERATED ALWAYS AS IDENTITY, id text)`)
			r.exec(`GRANT ALL ON went_in TO PUBLIC`)
			refuse := ""
			if alone {
				refuse = `IF NEW.id = 'id 07' THEN RAISE EXCEPTION 'no' USING ERRCODE = '22023'; END IF;`
			}
			r.exec(`CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN ` + refuse + `
				INSERT INTO went_in (id) VALUES (NEW.id); RETURN NEW; END $f$`)
			r.exec(`CREATE TRIGGER note BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION note()`)
			now := time.Now()
			var recs []*kgo.Record
			for i := range 40 {
				recs = append(recs, record(at(event(fmt.Sprintf("id %02d", i*7%40)), now.Add(time.Duration(i*3%5)*-time.Second)), 0))
			}
			r.produce(recs...)
			r.start(func(c *Config) { c.BatchAge = time.Second })
			r.settle()
			var got, want []string
			r.one(&got, "SELECT array_agg(id ORDER BY n) FROM went_in")
			r.one(&want, "SELECT array_agg(id ORDER BY occurred_at, source, id) FROM event")
			if len(want) < 39 || !slices.Equal(got, want) {
				t.Errorf("inserted\n%v\nwant\n%v", got, want)
			}
		})
	}
}

// After one statement failed, every later one of its transaction fails too: none of those may be taken for
// the fault of a record.
func TestTheFailureOfOneRecordIsNoneOfItsNeighbours(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	r.exec(`ALTER TABLE event ADD CONSTRAINT sane CHECK (subject <> 'bad')`)
	recs := series(0, 0, 50)
	bad := event("p0-00007")
	bad.Subject = "bad"
	recs[7] = record(bad, 0)
	r.produce(recs...)
	r.start(nil)
	r.settle()
	r.expect(tally{stored: 49, dead: 1})
	if n := r.count(`SELECT count(*) FROM dead_letter WHERE "offset" = 7 AND sqlstate = '23514' AND detail LIKE '%sane%'`); n != 1 {
		t.Errorf("the letter is not as expected\n%s", r.picture())
	}
}

// Real constraints of every kind, each broken by one record among good ones.
func TestRealConstraintsBuryTheRecordThatBreaksThem(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	for _, sql := range []string{
		`CREATE TABLE room (name text PRIMARY KEY)`, `INSERT INTO room VALUES ('kitchen')`, `GRANT SELECT ON room TO PUBLIC`,
		`ALTER TABLE event ADD COLUMN room text GENERATED ALWAYS AS (nullif(subject, 'no room')) STORED`,
		`ALTER TABLE event ADD CONSTRAINT in_a_room FOREIGN KEY (room) REFERENCES room DEFERRABLE INITIALLY DEFERRED`,
		`ALTER TABLE event ADD CONSTRAINT short CHECK (length(data) < 1000)`,
		`CREATE UNIQUE INDEX one_schema ON event (occurred_at, dataschema)`,
		`ALTER TABLE event ALTER COLUMN datacontenttype SET NOT NULL`,
		`CREATE INDEX schemas ON event (dataschema)`,
	} {
		r.exec(sql)
	}
	now := time.Now()
	good := func(id string) *kgo.Record {
		e := at(event(id), now)
		e.Subject = "kitchen"
		return record(e, 0)
	}
	var recs []*kgo.Record
	for i, state := range []string{"23503", "23514", "23505", "23502", "54000"} {
		e := at(event(state), now)
		e.Subject = "kitchen"
		switch state {
		case "23503":
			e.Subject = "nowhere"
		case "23514":
			e.Data = []byte(`"` + strings.Repeat("x", 1000) + `"`)
		case "23505":
			first := *e
			first.ID, first.DataSchema, e.DataSchema = "0", "urn:one", "urn:one"
			recs = append(recs, record(&first, 0))
		case "23502":
			e.DataContentType = ""
		case "54000":
			e.DataSchema = "urn:" + incompressible(4000)
		}
		recs = append(recs, good(fmt.Sprint("before ", i)), record(e, 0), good(fmt.Sprint("after ", i)))
	}
	r.produce(recs...)
	r.start(nil)
	r.settle()
	r.expect(tally{stored: 11, dead: 5})
	if n := r.count(`SELECT count(*) FROM dead_letter WHERE id = sqlstate AND reason = 'REJECTED_BY_DATABASE'`); n != 5 {
		t.Errorf("the letters are not as expected\n%s", r.picture())
	}
}

// incompressible is text that no compression makes short.
func incompressible(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rng.IntN(len(letters))]
	}
	return string(b)
}
