package consume

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/dbtest"
)

// hurried is a consumer that gives a try up after a second.
func hurried(c *Config) { c.AttemptIn = time.Second }

// A line to PostgreSQL that goes dead without a word, at any point: the try ends, another is made on a new
// connection, and each record has one outcome. What the server still holds of the old try it gives up itself.
func TestALineThatGoesDeadWithoutAWordCostsOneTry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at    string
		idle  bool // nothing is to be stored yet
		taken bool // one of the identities is stored already
		held  bool // the server waits for the rest of what it was sent, with its locks, until its keepalives fail
	}{
		"as the log is looked up":                   {at: "-- name: NewestLog"},
		"as a partition is taken over":              {at: "-- name: TakeOver"},
		"as days are made":                          {at: "-- name: EnsureEventDay"},
		"as new words are stored":                   {at: "-- name: InsertTerms"},
		"as a batch takes the checkpoint":           {at: "UPDATE checkpoint SET next_offset"},
		"before the rows of a batch are copied":     {at: "COPY event ("},
		"as the rows of a batch are copied":         {at: "PGCOPY\n", held: true},
		"before the rows of a batch are staged":     {at: "COPY event_in", taken: true},
		"as the rows of a batch are moved":          {at: "INSERT INTO event ", taken: true},
		"as a batch is accounted for":               {at: "INSERT INTO ledger", held: true},
		"as a batch is committed":                   {at: "COMMIT\x00"},
		"as an idle consumer looks at a checkpoint": {at: "-- name: ReadCheckpoints", idle: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, dbtest.NewKfake(t, 1))
			p := dbtest.NewProxy(t, r.url)
			pool := dbtest.Open(t, p.URL())
			t.Cleanup(p.Close) // before the pool, which waits for the dead line
			m := r.build(pool, hurried)
			recs, want := series(0, 0, 50), tally{stored: 50}
			if c.taken {
				r.run(m)
				once := record(event("once"), 0)
				again := *once
				r.produce(once)
				r.settle()
				recs, want = append(recs, &again), tally{stored: 51, duplicate: 1}
			}
			p.SilenceAt(c.at)
			if !c.taken {
				r.run(m)
			}
			if c.idle {
				r.await("the line goes dead", p.Silent)
			}
			r.produce(recs...)
			r.await("the line goes dead", p.Silent)
			if c.held {
				r.await("its locks are in the way", func() bool { return m.value(t, "oriel_consumer_retries_total", "class=environment") >= 2 })
				r.expect(tally{})
				p.GiveUp()
			}
			r.settle()
			r.expect(want)
			r.await("it is ready again", func() bool { return m.Status().Ready() })
			if n := r.count("SELECT count(*) FROM dead_letter"); n != 0 {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}

func TestALineThatGoesDeadAsALostCommitIsLookedUpCostsOneTry(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	p := dbtest.NewProxy(t, r.url)
	pool := dbtest.Open(t, p.URL())
	t.Cleanup(p.Close)
	m := r.startOn(pool, hurried)
	r.produce(series(0, 0, 20)...)
	r.settle()
	p.SilenceAt("-- name: LockCheckpoint")
	p.Next(dbtest.LoseReply)
	r.produce(series(0, 0, 1)...) // its words are known: the next COMMIT is the batch's
	r.await("the batch is resolved", func() bool {
		return m.value(t, "oriel_consumer_commit_unknown_total", "resolution=committed") == 1
	})
	if !p.Silent() {
		t.Fatal("the line did not go dead")
	}
	r.produce(series(0, 20, 20)...)
	r.settle()
	r.expect(tally{stored: 41})
}

// While nothing of the database answers, connections that are made meanwhile included, readiness says so,
// whether there is work or not; and all is well once it answers.
func TestADatabaseThatFallsSilentIsNoHealthyOne(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]bool{"with work at hand": true, "with nothing to do": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, dbtest.NewKfake(t, 2))
			p := dbtest.NewProxy(t, r.url)
			pool := dbtest.Open(t, p.URL())
			t.Cleanup(p.Close)
			m := r.startOn(pool, hurried)
			r.produce(series(0, 0, 20)...)
			r.settle()
			r.await("it is ready", func() bool { return m.Status().Ready() })
			p.Silence()
			stored := 20
			if busy {
				r.produce(series(1, 0, 20)...)
				stored += 20
			}
			r.await("readiness says so", func() bool { return !m.Status().Ready() })
			if s := m.Status(); !s.Degraded || !strings.Contains(s.Detail, "gave up after 1s") {
				t.Errorf("%+v", s)
			}
			p.Speak()
			r.await("it is ready again", func() bool { return m.Status().Ready() })
			r.settle()
			r.expect(tally{stored: stored})
		})
	}
}

// A member that is given more partitions, and cannot take them over, is not ready though it has others.
func TestATakeoverThatHangsIsSeen(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 2))
	p := dbtest.NewProxy(t, r.url)
	pool := dbtest.Open(t, p.URL())
	t.Cleanup(p.Close)
	m := r.startOn(pool, hurried)
	r.await("it has both partitions", func() bool { return m.Status().Assigned == 2 })
	other := r.start(nil)
	r.await("they share", func() bool { return m.Status().Assigned == 1 && other.Status().Assigned == 1 })
	r.exec("CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(3600); RETURN NEW; END $$")
	r.exec("CREATE TRIGGER hang BEFORE UPDATE OF owner ON checkpoint FOR EACH ROW EXECUTE FUNCTION hang()")
	r.halt(other)
	r.await("readiness says that it waits", func() bool {
		s := m.Status()
		return !s.Ready() && strings.Contains(s.Detail, "taking over: gave up after 1s")
	})
	r.exec("DROP TRIGGER hang ON checkpoint")
	r.await("it has both", func() bool { s := m.Status(); return s.Ready() && s.Assigned == 2 })
}

// A worker that hangs for whatever reason says nothing; the status knows by the clock.
func TestWorkInHandForTooLongIsNotHealthy(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	m := r.build(r.pool, func(c *Config) { c.StallAfter = 300 * time.Millisecond })
	hangs, goOn := make(chan struct{}), make(chan struct{})
	decode := m.decode
	m.decode = func(in cloudevents.Record) (*cloudevents.Event, []cloudevents.Header, error) {
		select {
		case hangs <- struct{}{}:
		default:
		}
		<-goOn
		return decode(in)
	}
	r.run(m)
	r.produce(series(0, 0, 1)...)
	<-hangs
	r.await("the status says so", func() bool {
		s := m.Status()
		return s.State == StateRunning && s.Degraded && strings.Contains(s.Detail, "partition 0 has had work in hand for")
	})
	close(goOn)
	r.settle()
	r.await("it is well again", func() bool { return m.Status().Ready() })
}

// A server that waits for rows which never come ends that by no timeout of its own: it asks the line.
func TestTheServerAsksWhetherAConsumerIsStillThere(t *testing.T) {
	t.Parallel()
	set := Session()
	for name, want := range map[string]string{
		"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3", "tcp_user_timeout": "30000",
	} {
		if set[name] != want {
			t.Errorf("%s is %q, want %q", name, set[name], want)
		}
	}
	r := newRig(t, dbtest.NewKfake(t, 1))
	conn, err := r.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	var tcp bool
	if err := conn.QueryRow(t.Context(), "SELECT inet_server_port() IS NOT NULL").Scan(&tcp); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), settings()); err != nil {
		t.Fatalf("the server refuses the settings: %v", err)
	}
	if !tcp {
		return // a socket file has no line to ask, and answers 0
	}
	for name, want := range set {
		if !strings.HasPrefix(name, "tcp_") {
			continue
		}
		var got string
		if err := conn.QueryRow(t.Context(), fmt.Sprintf("SELECT setting FROM pg_settings WHERE name = '%s'", name)).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, want %q: %v", name, got, want, err)
		}
	}
}
