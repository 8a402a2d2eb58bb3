package consume

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// cutOff keeps the requests about a group of one client, by its id, from the coordinator while it is on. One
// that joins anew has no name yet: nobody else may join meanwhile.
func cutOff(c *kfake.Cluster, clientID string) *atomic.Bool {
	var on atomic.Bool
	member := func(req kmsg.Request) string {
		switch r := req.(type) {
		case *kmsg.HeartbeatRequest:
			return r.MemberID
		case *kmsg.JoinGroupRequest:
			if r.MemberID == "" {
				return clientID
			}
			return r.MemberID
		case *kmsg.SyncGroupRequest:
			return r.MemberID
		case *kmsg.OffsetCommitRequest:
			return r.MemberID
		default:
			return ""
		}
	}
	for _, key := range []kmsg.Key{kmsg.Heartbeat, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.OffsetCommit} {
		c.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			if on.Load() && strings.HasPrefix(member(req), clientID) {
				return nil, errors.New("cut off"), true
			}
			return nil, nil, false
		})
	}
	return &on
}

// A replica that the group's coordinator does not hear, and that reads the topic and writes to the database
// all the same, believes that it has its partitions for as long as its client does. Once another has them it
// is fenced off, and takes none back before the group gives it some.
func TestAReplicaThatTheGroupHasGivenUpTakesNothingBack(t *testing.T) {
	t.Parallel()
	cluster, b := faultyBroker(t, 2)
	r := newRig(t, b)
	r.exec(`CREATE TABLE took (n serial, partition integer, owner text)`)
	r.exec(`CREATE FUNCTION took() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN
		INSERT INTO took (partition, owner) VALUES (NEW.partition, NEW.owner); RETURN NEW; END $$`)
	r.exec(`CREATE TRIGGER took AFTER UPDATE OF owner_epoch ON checkpoint FOR EACH ROW EXECUTE FUNCTION took()`)
	on := cutOff(cluster, "cut")

	join := func(client string) *member {
		m := r.build(r.pool, func(c *Config) { c.Instance = client })
		m.opts = append(m.opts, kgo.ClientID(client), kgo.SessionTimeout(6*time.Second), kgo.RetryTimeout(2*time.Minute), kgo.RequestRetries(1000))
		r.run(m)
		return m
	}
	cut := join("cut")
	r.await("it has both partitions", func() bool { return cut.Status().Assigned == 2 })
	other := join("other")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the cut one: %+v, the other: %+v", cut.Status(), other.Status())
		}
	})
	r.await("they share", func() bool { return cut.Status().Assigned == 1 && other.Status().Assigned == 1 })
	round := 0
	write := func() {
		r.produce(series(0, round*10, 10)...)
		r.produce(series(1, round*10, 10)...)
		round++
		r.settle()
	}
	write()

	on.Store(true)
	r.await("the group gives its partition to the other", func() bool { return other.Status().Assigned == 2 })
	before := r.count("SELECT count(*) FROM took")
	r.await("it knows that it is fenced off", func() bool {
		write() // it reads along, and may not store
		s := cut.Status()
		return !s.Ready() && strings.Contains(s.Detail, "the group does not confirm")
	})
	refused := cut.value(t, "oriel_consumer_unconfirmed_total")
	r.await("it has asked again", func() bool {
		write()
		return cut.value(t, "oriel_consumer_unconfirmed_total") >= refused+3
	})
	if after := r.count("SELECT count(*) FROM took"); after != before {
		t.Errorf("partitions changed hands %d times, though the group gave them to nobody else\n%s", after-before, r.picture())
	}
	if s := cut.Status(); s.Assigned != 1 {
		t.Fatalf("its client has noticed: %+v: nothing was shown", s)
	}
	if n := r.count("SELECT count(*) FROM checkpoint WHERE owner = 'other'"); n != 2 {
		t.Errorf("the other one owns %d partitions", n)
	}

	on.Store(false)
	r.await("it joins again", func() bool {
		return cut.Status().Ready() && other.Status().Ready() && cut.Status().Assigned == 1 && other.Status().Assigned == 1
	})
	write()
	r.expect(tally{stored: round * 20})
}

// The rightful owner does take back what a zombie took late: the group confirms it.
func TestTheMemberThatTheGroupConfirmsTakesItsPartitionBack(t *testing.T) {
	t.Parallel()
	_, b := faultyBroker(t, 1)
	r := newRig(t, b)
	m := r.start(nil)
	r.produce(series(0, 0, 10)...)
	r.settle()
	r.exec("UPDATE checkpoint SET owner_epoch = owner_epoch + 1, owner = 'zombie'")
	r.produce(series(0, 10, 10)...)
	r.settle()
	r.expect(tally{stored: 20})
	r.await("it owns its partition", func() bool { return r.count("SELECT count(*) FROM checkpoint WHERE owner = 'test/1'") == 1 })
	if n := m.value(t, "oriel_consumer_unconfirmed_total"); n != 0 {
		t.Errorf("the group did not confirm it %v times", n)
	}
}
