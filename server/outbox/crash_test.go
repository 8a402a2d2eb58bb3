package outbox

import (
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// holdDeletes keeps relays from deleting, and from nothing else.
func (r *rig) holdDeletes() (release func()) {
	r.t.Helper()
	tx, err := r.pool.Begin(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := tx.Exec(r.t.Context(), "LOCK TABLE outbox IN SHARE MODE"); err != nil {
		r.t.Fatal(err)
	}
	return func() {
		r.t.Helper()
		if err := tx.Rollback(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
	}
}

func TestAKillBetweenTheAcknowledgementAndTheDeleteRepeatsAndLosesNothing(t *testing.T) {
	t.Parallel()
	eachBroker(t, 3, func(t *testing.T, r *rig) {
		r.spread(r.topic, "k", 100)
		release := r.holdDeletes()
		a := r.fork("a")
		r.await("all are published", func() bool { return len(r.published(r.topic)) == 100 })
		if r.pending() != 100 {
			t.Error("some are deleted")
		}
		a.kill()
		release()
		r.start(nil)
		r.drained()
		if repeats := r.expectAll(r.topic, spreadValues("k", 100)); repeats != 100 {
			t.Errorf("%d repeats of 100", repeats)
		}
	})
}

func TestTheShardsOfAKilledRelayAreTakenOverInTime(t *testing.T) {
	t.Parallel()
	eachBroker(t, 3, func(t *testing.T, r *rig) {
		a := r.fork("a")
		r.await("it holds all", func() bool { return r.leases("a") == shardCount })
		a.kill()
		killed := time.Now()
		r.spread(r.topic, "k", 100)
		rel := r.start(nil)
		r.drained()
		took := time.Since(killed)
		t.Logf("taken over and published after %s", took)
		// The lease at most, a look at the leases, and one at the table; and what this machine needs.
		if limit := rel.cfg.TTL + 2*rel.cfg.PollMax + 3*time.Second; took > limit {
			t.Errorf("it took %s, want %s at most", took, limit)
		}
		if repeats := r.expectAll(r.topic, spreadValues("k", 100)); repeats != 0 {
			t.Errorf("%d repeats", repeats)
		}
	})
}

// The process sleeps through the end of its lease with a message under way that the broker then refuses.
func TestARelayThatSleptThroughItsLeaseMarksNothing(t *testing.T) {
	t.Parallel()
	cluster, r := faulty(t, 1)
	arrived, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		once.Do(func() { close(arrived) })
		cluster.SleepControl(func() { <-release })
		return nil, nil, false
	})
	cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: topicDenied(), Count: 1})
	a := r.fork("a")
	r.enqueue(r.topic, "k", 0, 3)
	<-arrived
	a.signal(syscall.SIGSTOP)
	b := r.start(nil)
	r.await("its shards are another's", func() bool { return b.Leases() == shardCount })
	close(release)
	r.drained()
	a.signal(syscall.SIGCONT)
	// What it still says is said by the time that it ends.
	if !a.end() {
		t.Error("it met no fence")
	}
	if r.dead() != 0 || r.count("SELECT count(*) FROM outbox_backoff") != 0 {
		t.Errorf("it left a mark\n%s", r.picture())
	}
	r.expectAll(r.topic, values("k", 0, 3))
	r.expectOrder(r.topic)
}

func TestTheOrderOfKeysHoldsWhileRelaysAreKilledAndStopped(t *testing.T) {
	t.Parallel()
	eachBroker(t, 3, func(t *testing.T, r *rig) {
		keys := []string{"a", "b", "c", "d", "e"}
		const each = 200
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		rnd := rand.New(rand.NewPCG(seed, 1))
		relays := []*child{r.fork("r0"), r.fork("r1")}
		next := 2
		var want []string
		for i := range 20 {
			for _, k := range keys {
				r.enqueue(r.topic, k, i*each/20, each/20)
				want = append(want, values(k, i*each/20, each/20)...)
			}
			n := rnd.IntN(2)
			left := r.pending()
			switch rnd.IntN(3) {
			case 0:
				relays[n].kill()
				relays[n] = r.fork("r" + itoa(next))
				next++
			case 1:
				relays[n].signal(syscall.SIGSTOP)
				r.await("time passes, or messages go", func() bool { return r.pending() < left || rnd.IntN(200) == 0 })
				relays[n].signal(syscall.SIGCONT)
			case 2:
				r.await("some go", func() bool { return r.pending() < left || left == 0 })
			}
		}
		r.drained()
		repeats := r.expectAll(r.topic, want)
		t.Logf("%d repeats of %d", repeats, len(want))
		r.expectOrder(r.topic)
		if r.dead() != 0 {
			t.Errorf("%d are dead", r.dead())
		}
	})
}

// Every connection of the relay is cut, again and again, while it works.
func TestADatabaseThatCutsConnectionsLosesNothing(t *testing.T) {
	t.Parallel()
	eachBroker(t, 3, func(t *testing.T, r *rig) {
		var want []string
		for _, k := range []string{"a", "b", "c"} {
			r.enqueue(r.topic, k, 0, 100)
			want = append(want, values(k, 0, 100)...)
		}
		r.spread(r.topic, "k", 1000)
		want = append(want, spreadValues("k", 1000)...)
		r.start(nil)
		role := "oriel_test_write"
		for range 10 {
			left := r.pending()
			r.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = $1", role)
			r.await("it goes on", func() bool { return left == 0 || r.pending() < left })
		}
		r.drained()
		r.expectAll(r.topic, want)
		r.expectOrder(r.topic)
		if r.dead() != 0 {
			t.Errorf("%d are dead", r.dead())
		}
	})
}
