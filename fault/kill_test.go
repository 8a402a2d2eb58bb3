package fault

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

// long is the nightly form: more kills.
var long = flag.Bool("long", false, "the long form: ten kills instead of three")

func kills() int {
	if *long {
		return 10
	}
	return 3
}

// seeded prints its seed, so that a failure's schedule can be run again.
func seeded(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}

func TestKillNineAtRandomMomentsUnderLoadLosesNothing(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 3, func(t *testing.T, b dbtest.Broker) {
		rng := seeded(t)
		in := apptest.Install(t, b)
		addr := apptest.FreeAddr(t)
		c := in.Serve(t, addr)
		l := startLoad(t, "one", "http://"+addr, in.Producer, 16)
		for range kills() {
			atLeast := l.count(acked) + 100
			apptest.Eventually(t, time.Minute, func() bool { return l.count(acked) >= atLeast }, func() string { return "the load does not flow" })
			pause(t.Context(), time.Duration(rng.IntN(400))*time.Millisecond)
			c.Kill()
			c = in.Serve(t, addr)
		}
		l.stop()
		checkEverything(t, in, l)
		if code := c.Stop(40 * time.Second); code != 0 {
			t.Errorf("a graceful stop exited with %d", code)
		}
		checkLedger(t, dbtest.Open(t, in.Database))
	})
}

func TestAGracefulStopUnderLoadAnswersTruthfully(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 3, func(t *testing.T, b dbtest.Broker) {
		in := apptest.Install(t, b)
		addr := apptest.FreeAddr(t)
		c := in.Serve(t, addr)
		l := startLoad(t, "one", "http://"+addr, in.Producer, 16)
		apptest.Eventually(t, time.Minute, func() bool { return l.count(acked) >= 200 }, func() string { return "the load does not flow" })
		if code := c.Stop(40 * time.Second); code != 0 {
			t.Errorf("a graceful stop exited with %d", code)
		}
		in.Serve(t, addr)
		l.stop()
		checkEverything(t, in, l)
	})
}

func TestTwoReplicasSplitThePartitionsAndLoseNothingWhenOneIsKilled(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 4, func(t *testing.T, b dbtest.Broker) {
		in := apptest.Install(t, b)
		pool := dbtest.Open(t, in.Database)
		one, two := apptest.FreeAddr(t), apptest.FreeAddr(t)
		in.Serve(t, one)
		killed := in.Serve(t, two)
		owners := func() int { return scan[int](t, pool, `SELECT count(DISTINCT owner) FROM checkpoint`) }
		apptest.Eventually(t, time.Minute, func() bool { return owners() == 2 }, func() string { return fmt.Sprintf("%d replicas own partitions", owners()) })
		l := startLoad(t, "one", "http://"+one, in.Producer, 8)
		other := startLoad(t, "two", "http://"+two, in.Producer, 8)
		apptest.Eventually(t, time.Minute, func() bool { return l.count(acked) >= 300 }, func() string { return "the load does not flow" })
		killed.Kill()
		other.stop()
		apptest.Eventually(t, 2*time.Minute, func() bool { return owners() == 1 }, func() string { return fmt.Sprintf("%d replicas own partitions", owners()) })
		atLeast := l.count(acked) + 200
		apptest.Eventually(t, time.Minute, func() bool { return l.count(acked) >= atLeast }, func() string { return "the load does not flow" })
		l.stop()
		maps.Copy(l.journal, other.journal)
		checkEverything(t, in, l)
		if code, body := apptest.Readiness("http://" + one); code != http.StatusOK {
			t.Errorf("the replica that is left is not ready: %s", body)
		}
	})
}
