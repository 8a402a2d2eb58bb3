package fault

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"oriel/server/apptest"
	"oriel/server/dbtest"
	"oriel/server/failpoint"
)

var (
	nemesisSeconds = flag.Int("nemesis", 0, "how many seconds the nemesis works (make nemesis)")
	nemesisSeed    = flag.Uint64("seed", 0, "the seed of the nemesis; 0 chooses one")
)

// What the nemesis works on.
const (
	nemesisPartitions = 6
	nemesisKeys       = 12
	nemesisRate       = 60  // events a second, when all is well
	nemesisPoison     = 200 // one event in so many is refused
	restartAfter      = 300 * time.Millisecond
)

// nemesisRoles are the replicas: each role more than once, so that one of them can be away.
func nemesisRoles() []string {
	return []string{"ingest", "ingest", "consume", "consume", "consume", "relay,maintain", "relay,maintain"}
}

func TestNothingIsLostOrDoubledWhateverTheNemesisDoes(t *testing.T) {
	if *nemesisSeconds == 0 {
		t.Skip("NOT RUN here: make nemesis runs it")
	}
	seed := *nemesisSeed
	if seed == 0 {
		seed = rand.Uint64N(1 << 32)
	}
	length := time.Duration(*nemesisSeconds) * time.Second
	deeds := schedule(seed, length, len(nemesisRoles()))
	t.Logf("seed %d: make nemesis SECONDS=%d SEED=%d does the same %d deeds", seed, *nemesisSeconds, seed, len(deeds))
	n := newNemesis(t, seed)
	n.work(deeds, length)
	began := time.Now()
	n.heal()
	n.flow.waitDone(t, 2*time.Minute)
	n.flow.stop()
	h := n.r.verify()
	for _, x := range n.replicas {
		x.child.WaitReady("http://"+x.addr, time.Minute)
		// A replica at rest has some forty; what every fault leaves behind would add up.
		if leaked := metric(t, x.addr, "go_goroutines"); leaked == 0 || leaked > 150 {
			t.Errorf("I10: replica %s has %v goroutines", x.name, leaked)
		}
	}
	n.summary(h, time.Since(began))
}

// replica is one process of the product, which is started again whenever it ends.
type replica struct {
	name, addr, roles string
	lives             int
	child             *apptest.Child
	doom              string        // the failpoint that kills this life; "" is none
	front             *front        // to PostgreSQL
	proxy             *dbtest.Proxy // before it, for the fates of COMMITs
	ended             time.Time     // when its end was seen; zero while it runs
	stopped           bool
	ours              bool // its end was ours to cause
	asked             int  // how often it was asked to end
}

// due is something to undo at a time.
type due struct {
	at time.Time
	do func()
}

type nemesis struct {
	t        *testing.T
	seed     uint64
	points   []string
	healing  bool
	r        *rig
	cluster  *kfake.Cluster
	wires    *wires
	server   *server
	replicas []*replica
	flow     *flow
	dues     []due
	done     map[string]int
	ends     map[int]int // how often replicas ended by themselves, by exit code

	mu          sync.Mutex
	serverDown  bool
	serverError error
}

func newNemesis(t *testing.T, seed uint64) *nemesis {
	names, err := points("../server")
	if err != nil {
		t.Fatal(err)
	}
	n := &nemesis{t: t, seed: seed, points: names, wires: newWires(), server: newServer(t), done: map[string]int{}, ends: map[int]int{}}
	b, cluster := newCluster(t, nemesisPartitions, kfake.NumBrokers(3), kfake.ListenFn(n.wires.listen))
	n.cluster = cluster
	direct := newFront(t, n.server.where)
	n.r = newRigAt(t, b, cluster, n.server.through(direct, true))
	var ingest []string
	for i, roles := range nemesisRoles() {
		x := &replica{name: fmt.Sprintf("r%d", i), addr: apptest.FreeAddr(t), roles: roles, front: newFront(t, n.server.where)}
		x.proxy = dbtest.NewProxy(t, n.server.through(x.front, false))
		n.replicas = append(n.replicas, x)
		n.launch(x)
		if roles == "ingest" {
			ingest = append(ingest, x.addr)
		}
	}
	for _, x := range n.replicas {
		x.child.WaitReady("http://"+x.addr, time.Minute)
	}
	n.flow = n.r.startFlow(nemesisKeys, nemesisPoison, ingest...)
	return n
}

// launch starts a life of a replica; the witness tells lives apart.
func (n *nemesis) launch(x *replica) {
	n.t.Helper()
	x.lives++
	x.ended, x.stopped, x.ours, x.asked = time.Time{}, false, false, 0
	extra := []string{"ORIEL_ROLES=" + x.roles}
	if x.doom = n.doom(x); x.doom != "" {
		extra = append(extra, failpoint.Env+"="+x.doom+":kill")
	}
	x.child = n.r.start(x.addr, as(n.t, x.proxy.URL(), fmt.Sprintf("%s.%d", x.name, x.lives)), nil, extra...)
}

// doom is the failpoint, and its pass, at which a life is to end: for every other life, but no first one. It
// follows from the seed.
func (n *nemesis) doom(x *replica) string {
	rng := rand.New(rand.NewPCG(n.seed, uint64(slices.Index(n.replicas, x))<<32+uint64(x.lives)))
	var mine []string
	for _, name := range n.points {
		part, _, _ := strings.Cut(name, ".")
		if slices.Contains(partsOf(x.roles), part) {
			mine = append(mine, name)
		}
	}
	if x.lives == 1 || n.healing || len(mine) == 0 || rng.IntN(2) > 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", mine[rng.IntN(len(mine))], 1+rng.IntN(20))
}

// partsOf are the parts that name the failpoints of a replica of some roles.
func partsOf(roles string) []string {
	switch roles {
	case "ingest":
		return []string{"ing"}
	case "consume":
		return []string{"con", "dlq"}
	}
	return []string{"out"}
}

// work does the deeds at their times, and lets events flow meanwhile.
func (n *nemesis) work(deeds []deed, length time.Duration) {
	n.t.Helper()
	began := time.Now()
	sent := 0
	for now := began; now.Sub(began) < length; now = time.Now() {
		for len(deeds) > 0 && now.Sub(began) >= deeds[0].at {
			n.t.Log(deeds[0])
			n.do(deeds[0])
			deeds = deeds[1:]
		}
		n.tend(now)
		// What is waiting is bounded, so that a long outage is not followed by a flood.
		if want := int(now.Sub(began).Seconds() * nemesisRate); want > sent && n.flow.waiting() < 2*nemesisRate {
			n.flow.allow(want - sent)
			sent = want
		} else if want > sent {
			sent = want
		}
		pause(n.t.Context(), 10*time.Millisecond)
	}
}

// tend undoes what is due and starts replicas that ended.
func (n *nemesis) tend(now time.Time) {
	n.t.Helper()
	n.dues = slices.DeleteFunc(n.dues, func(d due) bool {
		if now.Before(d.at) {
			return false
		}
		d.do()
		return true
	})
	for _, x := range n.replicas {
		switch {
		case !x.child.Exited():
		case x.ended.IsZero():
			x.ended = now
			n.note(x)
		case now.Sub(x.ended) >= restartAfter:
			n.launch(x)
		}
	}
	if gone := n.wires.timedOut(sessionTimeout); len(gone) > 0 {
		n.r.writers.Go(func() {
			if n.r.sendAway(gone) == nil {
				n.wires.forget(gone)
			}
		})
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.serverError != nil {
		n.t.Fatalf("PostgreSQL did not come back: %v", n.serverError)
	}
}

// note judges an end that no kill of ours caused: a stop that was asked for is 0, or 1 where something could
// not be finished, a start that found no database or broker is 1, one that was asked to stop before it listened
// ends by that signal, and a panic is none of these.
func (n *nemesis) note(x *replica) {
	n.t.Helper()
	if x.ours {
		return
	}
	if x.doom != "" && x.child.EndedBy() == syscall.SIGKILL {
		n.done["doom"]++
		return
	}
	code, said := x.child.Wait(time.Second)
	n.ends[code]++
	if x.asked > 0 && x.child.EndedBy() == syscall.SIGTERM { // asked before it listened
		return
	}
	atOnce := code == 130 && x.asked > 1 // asked again, it does not wait
	if code != 0 && code != 1 && !atOnce || strings.Contains(said, "goroutine ") {
		n.t.Errorf("%s ended with %d:\n%s", x.name, code, said)
	}
}

func (n *nemesis) later(d time.Duration, do func()) {
	n.dues = append(n.dues, due{time.Now().Add(d), do})
}

func (n *nemesis) do(d deed) {
	n.t.Helper()
	n.done[d.what]++
	x := n.replicas[d.who]
	switch d.what {
	case doKill:
		x.ours = true
		x.child.Signal(syscall.SIGKILL)
	case doTerm:
		x.asked++
		x.child.Signal(syscall.SIGTERM)
	case doStop:
		if x.stopped {
			return
		}
		child := x.child
		x.stopped = true
		child.Signal(syscall.SIGSTOP)
		n.later(d.lasts, func() {
			child.Signal(syscall.SIGCONT)
			if x.child == child {
				x.stopped = false
			}
		})
	case doPostgres:
		n.restartPostgres(d.lasts)
	case doReset:
		x.front.cut()
	case doHold:
		x.front.hold()
		n.later(d.lasts, func() { x.front.cut(); x.front.letGo() })
	case doDelay:
		x.front.hold()
		n.later(d.lasts, x.front.letGo)
	case doUnknown:
		x.proxy.Next(dbtest.LoseReply)
	case doUndone:
		x.proxy.Next(dbtest.CutBefore)
	case doLeaders:
		n.cluster.ShufflePartitionLeaders()
	case doCoord:
		n.cluster.RehashCoordinators()
	case doCut:
		n.wires.lose(d.key, cutOff)
	case doSilence:
		n.wires.lose(d.key, silent)
	case doForeign:
		n.r.writePast(2)
	default:
		n.t.Fatalf("nobody knows how to %q", d.what)
	}
}

// restartPostgres takes PostgreSQL away for a time, unless it is away. Recovery takes its own time, so it is
// not waited for here.
func (n *nemesis) restartPostgres(down time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.serverDown {
		return
	}
	n.serverDown = true
	ctx := n.t.Context()
	go func() {
		err := n.server.stop()
		if err == nil {
			pause(ctx, down)
			err = n.server.start()
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.serverDown, n.serverError = false, err
	}()
}

// heal ends every fault that is under way, and waits until everything runs.
func (n *nemesis) heal() {
	n.t.Helper()
	n.healing = true
	for _, x := range n.replicas {
		if x.doom != "" { // its end must not come later
			x.ours = true
			x.child.Signal(syscall.SIGKILL)
		}
	}
	for _, d := range n.dues {
		d.do()
	}
	n.dues = nil
	lost := n.wires.heal()
	n.t.Logf("healing; %d answers of the broker were lost", lost)
	deadline := time.Now().Add(2 * time.Minute)
	for !n.up() || n.wires.waiting() {
		if time.Now().After(deadline) {
			n.t.Error("I10: two minutes after the last fault not everything runs")
			return
		}
		n.tend(time.Now())
		pause(n.t.Context(), 20*time.Millisecond)
	}
}

func (n *nemesis) up() bool {
	n.mu.Lock()
	down := n.serverDown
	n.mu.Unlock()
	if down {
		return false
	}
	for _, x := range n.replicas {
		if code, _ := apptest.Readiness("http://" + x.addr); x.child.Exited() || code != http.StatusOK {
			return false
		}
	}
	return true
}

func (n *nemesis) summary(h *history, healed time.Duration) {
	n.t.Helper()
	lives, owners, suffered := 0, 0, 0
	for _, x := range n.replicas {
		lives += x.lives
		_, s := x.proxy.Commits()
		suffered += s
	}
	for _, c := range h.changes {
		if c.newEpoch != c.oldEpoch {
			owners++
		}
	}
	var duplicates int64
	for _, e := range h.ledger {
		duplicates += e.duplicate
	}
	most := 0.0
	for _, x := range n.replicas {
		most = max(most, metric(n.t, x.addr, "go_goroutines"))
	}
	n.t.Logf("deeds: %v; %d lives of %d replicas, ends of their own by exit code: %v; at most %v goroutines",
		n.done, lives, len(n.replicas), n.ends, most)
	n.t.Logf("%s; %d records, %d rows, %d letters, %d duplicates, %d commits, %d takeovers, %d COMMITs spoiled",
		n.flow, len(h.records), len(h.rows), len(h.letters), duplicates, len(h.ledger), owners, suffered)
	n.t.Logf("%d commits of offsets watched, %d while the database was away; everything held %s after the last fault",
		len(h.commits), n.r.unwatched, healed.Round(10*time.Millisecond))
}
