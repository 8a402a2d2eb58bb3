package fault

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/server/apptest"
)

// A transaction that is longer than the group's patience: the group gives its partitions to others while it is
// open, and nobody stores its records beside it.
func TestAMemberThatIsPutOutInTheMiddleOfATransactionStoresItAlone(t *testing.T) {
	t.Parallel()
	eachRig(t, 2, func(t *testing.T, r *rig) {
		impatient := kgo.RebalanceTimeout(1500 * time.Millisecond)
		g := r.gate(inBatch)
		g.hold("slow")
		s := r.script()
		slow := r.join("slow", impatient)
		slow.owns(2)
		was := r.members()
		s.write(batchOfMember, 0, 1)
		g.waitHeld("slow", 2)
		s.write(2*batchOfMember, 0, 1)
		// The second member takes one of its partitions, which it has to finish first; the third begins another
		// rebalance meanwhile, for which it comes too late.
		second := r.join("second", impatient)
		apptest.Eventually(t, time.Minute, func() bool { return slow.said.count("partitions revoked") > 0 },
			func() string { return "nothing was revoked" })
		third := r.join("third", impatient)
		apptest.Eventually(t, time.Minute, func() bool {
			return !slices.ContainsFunc(r.members(), func(id string) bool { return slices.Contains(was, id) })
		}, func() string { return "the slow member is not put out" })
		g.waitBlocked("second", "third")
		g.waitHeld("slow", 2)
		g.letGo("slow")
		h := r.verify()
		for p := range int32(2) {
			i := slices.IndexFunc(h.changes, func(c change) bool { return c.part == p && c.newCommits == 1 })
			if i < 0 || h.changes[i].writer != "slow" || h.changes[i].oldNext != 0 {
				t.Errorf("the first range of partition %d was not stored by the member that had it: %+v", p, h.changes)
			}
		}
		if n := duplicates(h); n != 0 || len(h.letters) != 0 {
			t.Errorf("%d records were stored before, %d are dead letters", n, len(h.letters))
		}
		// The slow one is back, and everything flows to the three of them.
		apptest.Eventually(t, time.Minute, func() bool { return len(r.members()) == 3 }, func() string { return "not all are members" })
		s.write(batchOfMember, 0, 1)
		r.verify()
		for _, m := range []*member{slow, second, third} {
			apptest.Eventually(t, time.Minute, func() bool { return m.Status().Ready() || m.Status().Assigned == 0 },
				func() string { return fmt.Sprintf("%s is %+v", m.name, m.Status()) })
			if n := m.count("oriel_consumer_client_rebuilds_total"); n != 0 {
				t.Errorf("%s was built anew %v times", m.name, n)
			}
		}
	})
}

// Offsets are told by a partition's owner alone, though transactions are in hand while it is taken away.
func TestNobodyTellsKafkaOffsetsOfAPartitionThatWasTakenAway(t *testing.T) {
	t.Parallel()
	const partitions = 8
	b, cluster := newCluster(t, partitions)
	r := newRig(t, b, cluster)
	owners := watchOwners(cluster)
	all := make([]int32, partitions)
	for p := range all {
		all[p] = int32(p)
	}
	g := r.gate(inBatch)
	s := r.script()
	one, two := r.join("one"), r.join("two")
	one.owns(partitions / 2)
	two.owns(partitions / 2)
	s.write(3*batchOfMember, all...)
	r.verify()
	for round, joins := range []string{"three", "four"} {
		g.hold("one", "two")
		s.write(3*batchOfMember, all...)
		// Batches are in hand at both, and others wait behind them.
		g.waitHeld("one", one.Status().Assigned)
		g.waitHeld("two", two.Status().Assigned)
		before := one.said.count("partitions revoked") + two.said.count("partitions revoked")
		_, moved, _, _, _ := owners.seen()
		next := r.join(joins)
		apptest.Eventually(t, time.Minute, func() bool {
			return one.said.count("partitions revoked")+two.said.count("partitions revoked") > before
		}, func() string { return fmt.Sprintf("round %d: nothing is revoked", round) })
		g.letGo("one", "two")
		next.owns(partitions / (3 + round))
		r.verify()
		if _, now, _, _, _ := owners.seen(); now == moved {
			t.Errorf("round %d: no partition changed hands", round)
		}
	}
	h := r.verify()
	_, _, told, _, foreign := owners.seen()
	if told < partitions || len(foreign) != 0 {
		t.Errorf("%d offsets told by owners; by others: %v", told, foreign)
	}
	if n := duplicates(h); n != 0 {
		t.Errorf("%d records were met twice", n)
	}
}

// A member whose queues are full, so that it fetches no more, gives partitions away and ends as any other.
func TestAFullQueueHoldsNeitherARevokeNorAStop(t *testing.T) {
	t.Parallel()
	eachRig(t, 2, func(t *testing.T, r *rig) {
		const patience = 20 * time.Second
		g := r.gate(inBatch)
		g.hold("full")
		s := r.script()
		full := r.join("full", kgo.RebalanceTimeout(patience))
		full.owns(2)
		was := r.members()
		s.write(30*batchOfMember, 0, 1) // several polls
		g.waitHeld("full", 2)
		full.waitQueueFull()
		began := time.Now()
		next := r.join("next", kgo.RebalanceTimeout(patience))
		apptest.Eventually(t, time.Minute, func() bool { return full.said.count("partitions revoked") > 0 },
			func() string { return "nothing is revoked" })
		g.letGo("full")
		next.owns(1)
		full.owns(1)
		if took := time.Since(began); took >= patience {
			t.Errorf("the revoke took %s, the group waits for %s", took, patience)
		}
		if now := r.members(); !slices.Contains(now, was[0]) {
			t.Errorf("the member was put out: %v, now %v", was, now)
		}
		h := r.verify()
		for p := range int32(2) {
			last := r.lastOf(h, p, "full")
			if first := r.firstOf(h, p, "next"); first != nil && first.oldNext != last.newNext {
				t.Errorf("partition %d was left at %d and taken up at %d", p, last.newNext, first.oldNext)
			}
		}
		// And at its stop: what is queued and was not begun is the next owner's, and Kafka is told no more than
		// what is stored.
		g.hold("full")
		s.write(30*batchOfMember, 0, 1)
		g.waitHeld("full", 1)
		at, err := r.durable()
		if err != nil {
			t.Fatal(err)
		}
		stopped := make(chan struct{})
		go func() { defer close(stopped); full.leave() }()
		apptest.Eventually(t, time.Minute, func() bool { return full.Status().State == "draining" },
			func() string { return fmt.Sprintf("it is %+v", full.Status()) })
		g.letGo("full")
		select {
		case <-stopped:
		case <-time.After(30 * time.Second):
			t.Fatal("the stop hangs")
		}
		h = r.verify()
		begun := 0
		for _, c := range h.changes {
			if c.writer == "full" && c.newCommits > c.oldCommits && c.oldNext >= at[c.part] {
				begun++
			}
		}
		// The one in hand, and at most the one that was handed over to be written.
		if begun < 1 || begun > 2 {
			t.Errorf("%d batches were stored by a member that stops", begun)
		}
		if n := duplicates(h); n != 0 {
			t.Errorf("%d records were met twice", n)
		}
	})
}

// waitQueueFull waits until a member that cannot store has stopped fetching, while the group hears from it.
func (m *member) waitQueueFull() {
	m.t.Helper()
	fetches, beats := -1, 0
	apptest.Eventually(m.t, time.Minute, func() bool {
		if n := m.traffic.count(kmsg.Fetch); n != fetches {
			fetches, beats = n, m.traffic.count(kmsg.Heartbeat)
		}
		return m.traffic.count(kmsg.Heartbeat) >= beats+3
	}, func() string { return m.name + " goes on fetching" })
}

// duplicates counts the records that were met when their identity was stored.
func duplicates(h *history) (n int64) {
	for _, e := range h.ledger {
		n += e.duplicate
	}
	return n
}

// lastOf and firstOf are a writer's commits to a partition.
func (r *rig) lastOf(h *history, part int32, writer string) (found *change) {
	r.t.Helper()
	for i, c := range h.changes {
		if c.part == part && c.writer == writer && c.newCommits > c.oldCommits {
			found = &h.changes[i]
		}
	}
	if found == nil {
		r.t.Fatalf("%s stored nothing of partition %d", writer, part)
	}
	return found
}

func (r *rig) firstOf(h *history, part int32, writer string) *change {
	for i, c := range h.changes {
		if c.part == part && c.writer == writer && c.newCommits > c.oldCommits {
			return &h.changes[i]
		}
	}
	return nil
}
