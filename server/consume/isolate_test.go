package consume

import (
	"strings"
	"testing"
	"time"

	"oriel/server/dbtest"
)

func TestARejectedRecordIsIsolatedAndTheOthersAreStored(t *testing.T) {
	t.Parallel()
	raise := func(code string, constraint string) string {
		return `CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
			IF NEW.id = 'p0-00107' THEN RAISE EXCEPTION 'not this one' USING ERRCODE = '` + code + `'` + constraint + `; END IF;
			RETURN NEW; END $f$; `
	}
	before := `CREATE TRIGGER reject BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION reject()`
	deferred := `CREATE CONSTRAINT TRIGGER reject AFTER INSERT ON event DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION reject()`
	for name, c := range map[string]struct{ sql, state string }{
		"an untranslatable character":        {raise("22P05", "") + before, "22P05"},
		"a check constraint":                 {raise("23514", ", CONSTRAINT = 'sane'") + before, "23514"},
		"a validation trigger":               {raise("P0001", "") + before, "P0001"},
		"a row too large for an index":       {raise("54000", "") + before, "54000"},
		"a constraint that waits for COMMIT": {raise("23503", ", CONSTRAINT = 'owner'") + deferred, "23503"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, dbtest.NewKfake(t, 1))
			r.exec(c.sql)
			r.produce(series(0, 0, 200)...)
			r.start(nil)
			r.settle()
			r.expect(tally{stored: 199, dead: 1})
			if n := r.count(`SELECT count(*) FROM dead_letter WHERE "offset" = 107 AND reason = 'REJECTED_BY_DATABASE'
				AND sqlstate = $1 AND id = 'p0-00107' AND detail LIKE '%not this one%'`, c.state); n != 1 {
				t.Errorf("the letter is not as expected\n%s", r.picture())
			}
		})
	}
}

func TestARejectedRecordLeavesItsTwinToBeStored(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	r.exec(`ALTER TABLE event ADD CONSTRAINT sane CHECK (data <> 'bad')`)
	now := time.Now()
	bad, good, other := at(event("twin"), now), at(event("twin"), now), at(event("twin"), now)
	bad.Data, other.Data = []byte("bad"), []byte(`{"other":1}`)
	r.produce(record(bad, 0), record(good, 0), record(good, 0), record(other, 0), record(bad, 0))
	r.start(nil)
	r.settle()
	// The bad one is refused, the good one stored, its copy a duplicate; what follows conflicts with it.
	r.expect(tally{stored: 1, duplicate: 1, dead: 3})
	if n := r.count(`SELECT count(*) FROM dead_letter WHERE ("offset", reason) IN
		((0, 'REJECTED_BY_DATABASE'), (3, 'CONFLICTING_DUPLICATE'), (4, 'CONFLICTING_DUPLICATE'))`); n != 3 {
		t.Errorf("letters\n%s", r.picture())
	}
}

func TestAWordThatTheDatabaseRefusesStopsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	r.exec(`ALTER TABLE term ADD CONSTRAINT nice CHECK (word <> 'kitchen')`)
	e := event("odd path")
	e.Data = []byte(`{"a\u0000b":1,"` + strings.Repeat("k", 5000) + `":2,"tags":["x\u0000y","ok"]}`)
	r.produce(record(event("a"), 0), record(e, 0))
	r.start(nil)
	r.settle()
	r.expect(tally{stored: 2})
	for what, sql := range map[string]string{
		"the other words are there": `SELECT (count(*) > 3)::int FROM term`,
		"the refused one is not":    `SELECT (count(*) = 0)::int FROM term WHERE word = 'kitchen'`,
		"tags hold what text can":   `SELECT count(*) FROM event WHERE tags = E'{x\uFFFDy,ok}'`,
	} {
		if r.count(sql) != 1 {
			t.Error(what)
		}
	}
}
