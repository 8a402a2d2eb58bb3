package consume

import (
	"testing"
	"time"

	"oriel/server/dbtest"

	dto "github.com/prometheus/client_model/go"
)

// value reads one sample of a member's metrics; labels are "name=value".
func (m *member) value(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, s := range f.GetMetric() {
			if has(s, labels) {
				return s.GetCounter().GetValue() + s.GetGauge().GetValue()
			}
		}
	}
	return 0
}

func has(m *dto.Metric, labels []string) bool {
	for _, l := range labels {
		found := false
		for _, p := range m.GetLabel() {
			found = found || p.GetName()+"="+p.GetValue() == l
		}
		if !found {
			return false
		}
	}
	return true
}

func TestALostAnswerToCommitIsResolvedByTheCheckpoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fate       dbtest.Fate
		resolution string
	}{
		"the commit took place and its reply was lost": {dbtest.LoseReply, "committed"},
		"the commit never arrived":                     {dbtest.CutBefore, "not_committed"},
		"the commit took place and the line went dead": {dbtest.HoldReply, "committed"},
		"the commit is held and the server gives up":   {dbtest.HoldBefore, "not_committed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, dbtest.NewKfake(t, 1))
			p := dbtest.NewProxy(t, r.url)
			m := r.startOn(dbtest.Open(t, p.URL()), nil)
			r.produce(series(0, 0, 20)...)
			r.settle()
			p.Next(c.fate) // the words are known: the next COMMIT is the batch's
			r.produce(series(0, 0, 1)...)
			r.await("a batch was resolved", func() bool {
				return m.value(t, "oriel_consumer_commit_unknown_total", "resolution="+c.resolution) == 1
			})
			r.produce(series(0, 20, 20)...)
			r.settle()
			r.expect(tally{stored: 41})
			if _, suffered := p.Commits(); suffered != 1 {
				t.Errorf("%d commits suffered", suffered)
			}
			if n := r.count("SELECT count(*) FROM dead_letter"); n != 0 {
				t.Errorf("%d dead letters", n)
			}
			r.halt(m)
			p.Close() // or the pool waits for the line that is held
		})
	}
}

func TestTheEnvironmentMakesNoDeadLetters(t *testing.T) {
	t.Parallel()
	for name, hurt := range map[string]func(t *testing.T, r *rig, m *member){
		"a lock on the event table": func(t *testing.T, r *rig, m *member) {
			tx, err := r.pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), "LOCK TABLE event IN ACCESS EXCLUSIVE MODE"); err != nil {
				t.Fatal(err)
			}
			r.produce(series(0, 100, 10)...)
			r.await("the consumer is degraded", func() bool { s := m.Status(); return s.Degraded && !s.Ready() })
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"backends that are terminated": func(t *testing.T, r *rig, _ *member) {
			for i := range 10 {
				r.produce(series(0, 100+i, 1)...)
				r.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
					WHERE datname = current_database() AND application_name = 'consumer'`)
			}
		},
		"a storm of serialization failures": func(t *testing.T, r *rig, m *member) {
			r.exec(`CREATE FUNCTION storm() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
				RAISE EXCEPTION 'storm' USING ERRCODE = '40001'; END $f$`)
			r.exec(`CREATE TRIGGER storm BEFORE INSERT ON event FOR EACH STATEMENT EXECUTE FUNCTION storm()`)
			r.produce(series(0, 100, 10)...)
			r.await("it was tried again", func() bool {
				return m.value(t, "oriel_consumer_retries_total", "class=environment") >= 3
			})
			r.exec("DROP TRIGGER storm ON event")
		},
		"a permission that is missing": func(t *testing.T, r *rig, m *member) {
			r.exec("ALTER TABLE event RENAME TO event_away")
			r.produce(series(0, 100, 10)...)
			r.await("it was tried again", func() bool { return m.value(t, "oriel_consumer_retries_total", "class=skew") >= 2 })
			r.exec("ALTER TABLE event_away RENAME TO event")
		},
		"a day partition that is gone": func(t *testing.T, r *rig, _ *member) {
			r.exec("DROP TABLE event_" + time.Now().UTC().Format("20060102"))
			r.produce(series(0, 100, 10)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, dbtest.NewKfake(t, 1))
			m := r.start(nil)
			r.produce(series(0, 0, 50)...)
			r.settle()
			gone := 0
			hurt(t, r, m)
			if name == "a day partition that is gone" {
				gone = 50
			}
			ends := r.ends()
			r.await("everything is accounted for", func() bool {
				return r.count("SELECT next_offset FROM checkpoint") == int(ends[0])
			})
			if n := r.count("SELECT count(*) FROM dead_letter"); n != 0 {
				t.Errorf("dead letters\n%s", r.picture())
			}
			if n := r.count("SELECT count(*) FROM event"); n != int(ends[0])-gone {
				t.Errorf("%d rows of %d records", n, ends[0])
			}
			if gone == 0 {
				r.invariants()
			}
			r.await("the consumer is ready again", func() bool { return m.Status().Ready() })
		})
	}
}

func TestTwoMembersShareThePartitionsAndOneTakesOver(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 4, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		batchOf := func(c *Config) { c.BatchRecords = 25 }
		one := r.start(batchOf)
		two := r.start(batchOf)
		r.await("both have partitions", func() bool { return one.Status().Assigned == 2 && two.Status().Assigned == 2 })
		n := 0
		burst := func() {
			for p := range int32(4) {
				r.produce(series(p, n, 100)...)
			}
			n += 100
		}
		burst()
		burst()
		r.halt(two)
		burst()
		r.await("the other has all", func() bool { return one.Status().Assigned == 4 })
		r.settle()
		r.expect(tally{stored: 4 * n})
		if s := two.Status(); s.State != StateStopped || s.Ready() {
			t.Errorf("the stopped one: %+v", s)
		}
		committed, err := r.admin.FetchOffsets(t.Context(), "store-"+b.Topic)
		if err != nil {
			t.Fatal(err)
		}
		for p, end := range r.ends() {
			if o, ok := committed.Lookup(b.Topic, p); ok && o.At > end {
				t.Errorf("partition %d: Kafka was told %d of %d", p, o.At, end)
			}
		}
	})
}

func TestKafkaIsToldWhatIsDurable(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	m := r.start(nil)
	r.produce(series(0, 0, 30)...)
	r.settle()
	r.halt(m)
	committed, err := r.admin.FetchOffsets(t.Context(), "store-"+r.broker.Topic)
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := committed.Lookup(r.broker.Topic, 0); !ok || o.At != 30 {
		t.Errorf("committed %+v", o)
	}
}

func TestAZombieCannotWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	m := r.start(nil)
	r.produce(series(0, 0, 10)...)
	r.settle()
	// Another owner took the partition over behind this one's back.
	r.exec("UPDATE checkpoint SET owner_epoch = owner_epoch + 7")
	r.produce(series(0, 10, 10)...)
	r.settle()
	r.expect(tally{stored: 20})
	if got := r.count("SELECT owner_epoch FROM checkpoint"); got < 9 {
		t.Errorf("owner epoch %d: the partition was not taken over again", got)
	}
	r.await("the consumer is ready", func() bool { return m.Status().Ready() })
}

func TestAStoppedConsumerFinishesTheBatchInHand(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	r.exec(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $f$`)
	r.exec(`CREATE TRIGGER slow AFTER INSERT ON event FOR EACH STATEMENT EXECUTE FUNCTION slow()`)
	m := r.start(func(c *Config) { c.BatchRecords = 10 })
	r.produce(series(0, 0, 1000)...)
	r.await("a batch is in hand", func() bool {
		return r.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`) > 0
	})
	before := r.count("SELECT commits FROM checkpoint")
	r.halt(m)
	r.invariants()
	after := r.count("SELECT commits FROM checkpoint")
	if after <= before {
		t.Errorf("the batch in hand was lost: %d commits before, %d after", before, after)
	}
	if after > before+3 {
		t.Errorf("%d batches after the stop", after-before)
	}
	if got := r.outcomes().stored; got != after*10 {
		t.Errorf("%d rows of %d commits", got, after)
	}
	r.exec("DROP TRIGGER slow ON event")
	r.start(nil)
	r.settle()
	r.expect(tally{stored: 1000})
}

func TestBackoffIsJitteredAndCapped(t *testing.T) {
	t.Parallel()
	for n, limit := range map[int]time.Duration{0: 100 * time.Millisecond, 3: 800 * time.Millisecond, 8: 25600 * time.Millisecond, 9: backoffCap, 63: backoffCap, 200: backoffCap} {
		for range 200 {
			if d := jitter(n); d <= 0 || d > limit+time.Millisecond {
				t.Fatalf("attempt %d: %v", n, d)
			}
		}
	}
	different := map[time.Duration]bool{}
	for range 50 {
		different[jitter(20)] = true
	}
	if len(different) < 40 {
		t.Errorf("%d different waits of 50", len(different))
	}
}
