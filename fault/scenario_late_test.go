package fault

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/apptest"
	"oriel/server/dbtest"
	"oriel/server/failpoint"
)

// A process that slept between a batch and telling Kafka of it, while others took its partition and went on,
// moves the group's offset nowhere when it wakes.
func TestAZombieThatWakesBeforeItTellsKafkaMovesNoOffset(t *testing.T) {
	skipWithoutMatrix(t)
	t.Parallel()
	b, cluster := newCluster(t, 1)
	r := newRig(t, b, cluster)
	addr, other := apptest.FreeAddr(t), apptest.FreeAddr(t)
	zombie := r.start(addr, as(t, dbtest.AppURL(t, r.direct), "zombie"), nil, failpoint.Env+"=con.before_kcommit:1:stop")
	flow := r.startFlow(3, 5, addr, other)
	flow.allow(9)
	waitStopped(t, zombie)
	r.start(other, as(t, dbtest.AppURL(t, r.direct), "owner"), nil)
	apptest.Eventually(t, time.Minute, r.caughtUpTo(9), func() string { return "the new owner does not get the partition" })
	flow.allow(9)
	apptest.Eventually(t, time.Minute, r.caughtUpTo(18), func() string { return "the new owner does not go on" })
	r.waitTold()
	before := r.told(0)
	zombie.Signal(syscall.SIGCONT)
	apptest.Eventually(t, time.Minute, func() bool { return len(r.members()) == 2 }, func() string { return "the zombie does not join again" })
	if now := r.told(0); now < before {
		t.Errorf("the group's offset went from %d to %d", before, now)
	}
	flow.allow(9)
	flow.waitDone(t, time.Minute)
	flow.stop()
	r.verify()
	zombie.WaitReady("http://"+addr, time.Minute)
}

// A member that nothing of Kafka reaches any more, while the database does, stores what it has;
// what it tells arrives after others have gone on, and is not taken.
func TestWhatAMemberTellsTooLateIsNotTaken(t *testing.T) {
	t.Parallel()
	eachRig(t, 1, func(t *testing.T, r *rig) {
		way := r.newWay()
		g := r.gate(inBatch)
		s := r.script()
		late := r.join("late", kgo.Dialer(way.dial))
		s.write(batchOfMember, 0)
		r.verify()
		g.hold("late")
		s.write(batchOfMember, 0)
		g.waitHeld("late", 1)
		was := r.members()
		way.hold()
		g.letGo("late")
		apptest.Eventually(t, time.Minute, r.caughtUpTo(2*batchOfMember), func() string { return "what it had in hand is not stored" })
		apptest.Eventually(t, time.Minute, func() bool { return late.said.count(notTaken) > 0 }, func() string { return "it tells nothing" })
		r.evict(was)
		next := r.join("next")
		next.owns(1)
		s.write(2*batchOfMember, 0)
		apptest.Eventually(t, time.Minute, r.caughtUpTo(4*batchOfMember), func() string { return "the new owner does not go on" })
		r.waitTold()
		before := r.told(0)
		way.letGo()
		apptest.Eventually(t, time.Minute, func() bool { return len(r.members()) == 2 }, func() string { return "it does not join again" })
		if now := r.told(0); now < before {
			t.Errorf("the group's offset went from %d to %d", before, now)
		}
		s.write(batchOfMember, 0)
		h := r.verify()
		if n := duplicates(h); n != 0 {
			t.Errorf("%d records were met twice", n)
		}
	})
}

// notTaken is what a consumer says about offsets that failed.
const notTaken = "Kafka did not take offsets; the checkpoints have them"

// way is a member's only way to the brokers, which can be held.
type way map[string]*front

func (r *rig) newWay() way {
	w := way{}
	for _, addr := range r.broker.Brokers {
		w[addr] = newFront(r.t, func() (string, string) { return "tcp", addr })
	}
	return w
}

func (w way) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	f := w[addr]
	if f == nil {
		return nil, fmt.Errorf("%s is none of the brokers", addr)
	}
	return (&net.Dialer{}).DialContext(ctx, network, f.addr())
}

func (w way) hold() {
	for _, f := range w {
		f.hold()
	}
}

func (w way) letGo() {
	for _, f := range w {
		f.letGo()
	}
}
