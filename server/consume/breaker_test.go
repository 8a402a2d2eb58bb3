package consume

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/dbtest"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestTheBreakerTripsByTheShareAndThePaceOfDeadLetters(t *testing.T) {
	t.Parallel()
	type commit struct {
		part          int32
		records, dead int
		after         time.Duration
	}
	many := func(n int, c commit) (all []commit) { return slices.Repeat([]commit{c}, n) }
	for name, c := range map[string]struct {
		commits []commit
		want    []int32
	}{
		"half of the records is not more than half":        {many(100, commit{0, 100, 50, 0}), nil},
		"more than half, as soon as there are enough":      {many(10, commit{0, 100, 51, 0}), []int32{0}},
		"all of them, before there are enough letters":     {many(9, commit{0, 50, 50, 0}), nil},
		"all of them, at the very number":                  {many(10, commit{0, 50, 50, 0}), []int32{0}},
		"all of them, slowly":                              {many(100, commit{0, 50, 50, 7 * time.Second}), nil},
		"all of them, in a new storm after a slow day":     {append(many(100, commit{0, 50, 50, time.Minute}), many(9, commit{0, 50, 50, 0})...), []int32{0}},
		"a storm is seen however long all was well before": {append(many(10_000, commit{0, 500, 0, 0}), commit{0, 500, 500, 0}, commit{0, 500, 500, 0}), []int32{0}},
		"the partition that is well goes on":               {append(many(4, commit{1, 50, 0, 0}), many(10, commit{0, 50, 50, 0})...), []int32{0}},
		"every partition that is ill stops":                {append(many(5, commit{0, 50, 50, 0}), many(5, commit{1, 50, 50, 0})...), []int32{0, 1}},
		"one ill partition among many is no runaway":       {slices.Repeat(append(many(5, commit{1, 100, 0, 0}), commit{0, 100, 100, 0}), 50), nil},
		"one enormous batch":                               {[]commit{{0, 2000, 2000, 0}}, []int32{0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBreaker(Config{}.withDefaults())
			now := time.Now()
			b.now = func() time.Time { return now }
			var got []int32
			for i, k := range c.commits {
				now = now.Add(k.after)
				trips := b.note(k.part, k.records, k.dead, "store")
				if len(trips) == 0 {
					continue
				}
				if i != len(c.commits)-1 {
					t.Errorf("tripped at commit %d of %d", i+1, len(c.commits))
				}
				for _, trip := range trips {
					got = append(got, trip.part)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("tripped %v, want %v", got, c.want)
			}
			if b.records < 0 || b.dead < 0 || len(c.want) > 0 && slices.ContainsFunc(b.shares, func(s share) bool { return slices.Contains(c.want, s.part) }) {
				t.Errorf("what is left: %d records, %d dead, %v", b.records, b.dead, b.shares)
			}
		})
	}
	off := newBreaker(Config{BreakerRatio: 1}.withDefaults())
	for range 100 {
		if off.note(0, 500, 500, "store") != nil {
			t.Fatal("a ratio of 1 trips")
		}
	}
}

// storm makes PostgreSQL refuse every event of partition 0 and none of the others.
const storm = `ALTER TABLE event ADD CONSTRAINT fair CHECK (partition <> 0) NOT VALID`

func TestAStormOfDeadLettersStopsItsPartitionUntilAnOperatorResumesIt(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		few := func(c *Config) { c.BreakerLetters, c.BreakerWindow = 200, 400 }
		r.exec(storm)
		for p := range int32(2) {
			r.produce(series(p, 0, 20)...)
		}
		m := r.start(few)
		r.settle()
		r.expect(tally{stored: 20, dead: 20}) // too few to be a storm
		r.produce(series(0, 20, 2000)...)
		r.await("the partition has tripped", func() bool { return m.Status().State == StateTripped })
		s := m.Status()
		if s.Ready() || !strings.Contains(s.Detail, "partition 0") || !strings.Contains(s.Detail, "oriel consumer resume --consumer store") {
			t.Errorf("status %+v", s)
		}
		for name, want := range map[string]float64{"oriel_consumer_breaker_trips_total": 1, "oriel_consumer_partition_state": 4} {
			if got := m.value(t, name); name != "oriel_consumer_partition_state" && got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		if got := m.value(t, "oriel_consumer_partition_state", "partition=0"); got != 4 {
			t.Errorf("the state is %v", got)
		}
		dead := r.count("SELECT count(*) FROM dead_letter")
		if dead < 200 || dead > 200+2*isolateChunk {
			t.Errorf("%d dead letters before it stopped", dead)
		}
		r.produce(series(1, 20, 100)...)
		r.await("the other partition goes on", func() bool { return r.count("SELECT next_offset FROM checkpoint WHERE partition = 1") == 120 })

		// It stays so for whoever takes the partition over, and a restart is no way out.
		r.halt(m)
		m = r.start(few)
		r.await("a restart does not resume it", func() bool { return m.Status().State == StateTripped })
		r.invariants()
		if n := r.count("SELECT count(*) FROM dead_letter"); n != dead {
			t.Errorf("%d dead letters after the restart, %d before", n, dead)
		}

		// With the cause still there it trips once more.
		resume := func(reason string) ([]int32, error) {
			return ResumeTripped(t.Context(), r.pool, "store", b.Topic, reason, "tester", nil)
		}
		if _, err := resume(" "); err == nil {
			t.Error("resumed without a reason")
		}
		if ps, err := resume("let us see"); err != nil || !slices.Equal(ps, []int32{0}) {
			t.Fatalf("resumed %v: %v", ps, err)
		}
		r.await("it trips once more", func() bool {
			return r.count("SELECT count(*) FROM dead_letter") > dead && m.Status().State == StateTripped
		})
		if n := r.count("SELECT count(*) FROM dead_letter"); n > 2*dead+isolateChunk {
			t.Errorf("%d dead letters in two rounds", n)
		}
		r.exec("ALTER TABLE event DROP CONSTRAINT fair")
		if _, err := resume("the constraint is gone"); err != nil {
			t.Fatal(err)
		}
		r.settle()
		r.await("the consumer is ready", func() bool { return m.Status().Ready() })
		total := r.outcomes()
		if total.stored+total.dead != 2140 || total.duplicate != 0 || total.dead != r.count("SELECT count(*) FROM dead_letter") {
			t.Errorf("outcomes %+v\n%s", total, r.picture())
		}
		if n := r.count(`SELECT count(*) FROM consumer_decision WHERE action = 'resume' AND actor = 'tester' AND detail = 'partitions [0]'`); n != 2 {
			t.Errorf("%d decisions are recorded", n)
		}
		if _, err := resume("again"); err == nil || !strings.Contains(err.Error(), "nothing to resume") {
			t.Errorf("resumed twice: %v", err)
		}
	})
}

func TestResumeIsRefusedWhereItIsNotTheWayOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	if _, err := ResumeTripped(t.Context(), r.pool, "store", r.broker.Topic, "why not", "tester", nil); err == nil || !strings.Contains(err.Error(), "no checkpoints") {
		t.Errorf("resumed what never ran: %v", err)
	}
	r.produce(series(0, 0, 5)...)
	r.halt(r.startAndSettle())
	r.exec("UPDATE checkpoint SET state = 'gap'")
	_, err := ResumeTripped(t.Context(), r.pool, "store", r.broker.Topic, "why not", "tester", nil)
	if err == nil || !strings.Contains(err.Error(), "partition 0 is gap at offset 5") || !strings.Contains(err.Error(), "consumer move") {
		t.Errorf("resumed a gap: %v", err)
	}
	// What else must commit with it undoes it.
	r.exec("UPDATE checkpoint SET state = 'tripped'")
	failed := fmt.Errorf("the record failed")
	if _, err := ResumeTripped(t.Context(), r.pool, "store", r.broker.Topic, "why not", "tester",
		func(context.Context, pgx.Tx, []int32) error { return failed }); err == nil {
		t.Error("resumed without the record")
	}
	if n := r.count("SELECT count(*) FROM checkpoint WHERE state = 'tripped'") - r.count("SELECT count(*) FROM consumer_decision"); n != 1 {
		t.Error("a refused decision left something")
	}
}

// startAndSettle runs a consumer until it has everything.
func (r *rig) startAndSettle() *member {
	r.t.Helper()
	m := r.start(nil)
	r.settle()
	return m
}

// opts are those of an operator's command.
func (r *rig) opts() []kgo.Opt { return []kgo.Opt{kgo.SeedBrokers(r.broker.Brokers...)} }
