package fault

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/server/apptest"
	"oriel/server/dbtest"
	"oriel/server/failpoint"
	"oriel/server/kafka"
)

// matrix asks for the crash matrix, which has a command of its own.
var matrix = flag.Bool("matrix", false, "run the crash matrix (make fault)")

// moment is the pass of a point at which a case ends the process.
type moment string

const (
	first  moment = "first"
	second moment = "second"
	last   moment = "last" // the first pass after everything else is done
)

func TestAKillAtAnyPointLosesNothingAndDoublesNothing(t *testing.T) {
	if !*matrix {
		t.Skip("NOT RUN here: make fault runs the crash matrix")
	}
	t.Parallel()
	names, err := points("../server")
	if err != nil {
		t.Fatal(err)
	}
	moments := []moment{first}
	if *long {
		moments = append(moments, second, last)
	}
	for _, name := range names {
		for _, when := range moments {
			t.Run(fmt.Sprintf("%s, %s pass, kfake", name, when), func(t *testing.T) {
				t.Parallel()
				b, cluster := newCluster(t, partitionsOfCase)
				killAt(t, newRig(t, b, cluster), name, when)
			})
		}
	}
}

const partitionsOfCase = 2

// onApache are the points at which a broker of another make could matter: around its acknowledgements, its
// group and its offsets.
func onApache() []string {
	return []string{
		"ing.after_ack", "con.taken_over", "con.after_commit", "con.before_kcommit", "con.after_kcommit", "con.in_revoke",
		"out.before_publish", "out.after_ack",
	}
}

func TestAKillAtAPointOfTheBrokersLosesNothingOnApacheKafka(t *testing.T) {
	skipWithoutMatrix(t)
	if !*long {
		t.Skip("NOT RUN here: make fault LONG=1 runs the matrix on Apache Kafka")
	}
	t.Parallel()
	for _, name := range onApache() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.OnApache(t, partitionsOfCase, func(t *testing.T, b dbtest.Broker) { killAt(t, newRig(t, b, nil), name, first) })
		})
	}
}

// killAt runs one case: a replica is killed by itself at a point while producers send, another takes its
// place, and every promise is checked.
func killAt(t *testing.T, r *rig, name string, when moment) {
	began := time.Now()
	addr := apptest.FreeAddr(t)
	now := filepath.Join(t.TempDir(), "now")
	nth := map[moment]int{first: 1, second: 2, last: 1}[when]
	vars := []string{fmt.Sprintf("%s=%s:%d:kill", failpoint.Env, name, nth)}
	if when == last {
		vars = append(vars, failpoint.WhenEnv+"="+now)
	}
	// Answers to COMMIT can be lost on the way.
	proxy := dbtest.NewProxy(t, as(t, dbtest.AppURL(t, r.direct), "victim"))
	victim := r.start(addr, proxy.URL(), nil, vars...)
	flow := r.startFlow(3, 5, addr)
	s := &scene{t: t, r: r, victim: victim, addr: addr, flow: flow, proxy: proxy}
	if when == last {
		s.load()
		if victim.Exited() {
			t.Fatal("the replica ended before it was to be killed")
		}
		waitCaughtUp(t, r.pool, r.broker)
		if err := os.WriteFile(now, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.play()
	switch killed := victim.EndedBy() == syscall.SIGKILL; {
	case killed:
	case when != second:
		_, said := victim.Wait(time.Second)
		t.Fatalf("the replica was not killed at %s: the scenes must be made to lead there. It said:\n%s", name, said)
	default:
		t.Logf("%s is passed only once in the life of a process", name)
	}
	died := time.Since(began)
	s.mourn()
	successor := r.start(addr, as(t, dbtest.AppURL(t, r.direct), "successor"), nil)
	flow.allow(6)
	flow.waitDone(t, time.Minute)
	flow.stop()
	h := r.verify()
	successor.WaitReady("http://"+addr, time.Minute)
	t.Logf("%s; %d records, %d rows, %d letters; killed after %s, healed after %s",
		flow, len(h.records), len(h.rows), len(h.letters), died.Round(10*time.Millisecond), time.Since(began).Round(10*time.Millisecond))
}

// scene leads a replica through everything that passes points, until it ends.
type scene struct {
	t       *testing.T
	r       *rig
	victim  *apptest.Child
	addr    string
	flow    *flow
	proxy   *dbtest.Proxy
	shared  bool
	members []string // of the group, before anybody else joined
}

// play goes on until the victim has ended, by itself or asked at last.
func (s *scene) play() {
	s.t.Helper()
	for _, step := range []func(){s.load, s.loseAnswers, s.repeat, s.share, s.stop} {
		if !s.victim.Exited() {
			step()
		}
	}
}

// load sends events, some of which the database refuses, and records that are no events.
func (s *scene) load() {
	s.t.Helper()
	if s.r.cluster != nil {
		// The first dead letters are not taken, which their relay has to write down.
		s.r.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Topic: kafka.DeadLetterTopic(s.r.broker.Topic), Err: kerr.TopicAuthorizationFailed, Count: 2,
		})
	}
	s.r.writePast(3)
	s.r.writers.Wait()
	s.flow.allow(2) // the first of a key are good ones: their batch goes in at once
	if s.until(time.Minute, func() bool { return s.flow.done() && s.r.caughtUp() }) {
		return
	}
	s.flow.allow(22)
	s.until(time.Minute, s.flow.done)
}

// repeat sends an event twice. It is a batch of its own: in the company of one that is refused it would go in
// alone.
func (s *scene) repeat() {
	s.t.Helper()
	if s.until(time.Minute, s.r.caughtUp) {
		return
	}
	s.flow.again(s.t.Context())
	s.until(time.Minute, s.r.caughtUp)
}

// loseAnswers cuts the answers to COMMITs off while batches are stored: to the first of a burst, which is that
// of new words, to the second, and to the third.
func (s *scene) loseAnswers() {
	s.t.Helper()
	if s.until(time.Minute, s.r.caughtUp) {
		return // before that the answers to other transactions would be lost
	}
	for lost := 1; lost <= 6; lost++ {
		s.proxy.Next(slices.Repeat([]dbtest.Fate{dbtest.Deliver}, lost%3)...)
		s.proxy.Next(dbtest.LoseReply)
		for suffered := 0; suffered < lost; _, suffered = s.proxy.Commits() {
			s.flow.allow(3)
			if s.until(time.Minute, func() bool { return s.flow.done() && s.r.caughtUp() }) {
				return
			}
		}
	}
}

// share lets another replica join and leave again: partitions are revoked and taken over.
func (s *scene) share() {
	s.t.Helper()
	s.members, s.shared = s.r.members(), true
	other := apptest.FreeAddr(s.t)
	c := s.r.start(other, as(s.t, dbtest.AppURL(s.t, s.r.direct), "neighbour"), nil)
	// Of partitions and of the shards of the outbox.
	owners := func(want int) func() bool {
		return func() bool {
			return scan[bool](s.t, s.r.pool, `SELECT (SELECT count(DISTINCT owner) FROM checkpoint) = $1
				AND (SELECT count(DISTINCT owner) = $1 AND bool_and(lease_until > clock_timestamp()) FROM outbox_shard)`, want)
		}
	}
	if s.until(time.Minute, owners(2)) {
		return // the neighbour stays and takes everything
	}
	if code := c.Stop(time.Minute); code != 0 {
		s.t.Errorf("the neighbour ended with %d", code)
	}
	s.until(time.Minute, owners(1))
}

// mourn takes the victim out of the group.
func (s *scene) mourn() {
	s.t.Helper()
	if !s.shared {
		s.members = s.r.members()
	}
	s.r.evict(s.members)
	// The leases of its relay run out, and it is not counted among the relays any more.
	for _, sql := range []string{
		`UPDATE outbox_shard SET lease_until = clock_timestamp() WHERE owner LIKE '%/' || $1::text || '#%'`,
		`DELETE FROM outbox_relay WHERE name LIKE '%/' || $1::text || '#%'`,
	} {
		if _, err := s.r.pool.Exec(s.t.Context(), sql, strconv.Itoa(s.victim.Pid())); err != nil {
			s.t.Fatal(err)
		}
	}
}

// stop asks the victim to end.
func (s *scene) stop() {
	s.t.Helper()
	s.victim.Signal(syscall.SIGTERM)
	s.until(time.Minute, func() bool { return false })
}

// until waits for a condition or the victim's end, which it answers true.
func (s *scene) until(within time.Duration, condition func() bool) (ended bool) {
	s.t.Helper()
	deadline := time.Now().Add(within)
	for !s.victim.Exited() {
		if condition() {
			return false
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("after %s the scene is not over: %s", within, s.flow)
		}
		pause(s.t.Context(), 10*time.Millisecond)
	}
	return true
}
