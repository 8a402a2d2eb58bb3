package fault

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/server/apptest"
)

// Offsets that Kafka took are said to have been refused, or nothing is said of them: the member goes on as if
// nothing had happened, and tells newer ones a second later.
func TestAnOffsetThatWasTakenAndIsSaidToBeRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil  func(*testing.T, *rig, *wires) func() int
		rounds int
		joins  int // that the client may answer it with, though it keeps its partition
	}{
		"the request timed out":         {taken(kerr.RequestTimedOut), 2, 0},
		"a rebalance goes on":           {taken(kerr.RebalanceInProgress), 2, 0},
		"the generation is over":        {taken(kerr.IllegalGeneration), 2, 2},
		"the member is not known":       {taken(kerr.UnknownMemberID), 2, 2},
		"the instance is fenced off":    {taken(kerr.FencedInstanceID), 2, 0},
		"the answer is lost with a cut": {lost(cutOff, cutOff), 2, 0},
		// Heartbeats wait behind it on the same connection, so the group may put the member out.
		"the answer never comes": {lost(silent), 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWires()
			b, cluster := newCluster(t, 1, kfake.ListenFn(w.listen))
			r := newRig(t, b, cluster)
			owners := watchOwners(cluster)
			s := r.script()
			m := r.join("one")
			s.write(batchOfMember, 0)
			r.verify()
			joins, _, _, commits, _ := owners.seen()
			began := time.Now()
			suffered := c.spoil(t, r, w)
			for round := 1; round <= c.rounds; round++ {
				s.write(batchOfMember, 0)
				apptest.Eventually(t, time.Minute, func() bool { return suffered() >= round },
					func() string { return fmt.Sprintf("%d commits of offsets suffered, want %d", suffered(), round) })
			}
			s.write(batchOfMember, 0)
			h := r.verify()
			if n := duplicates(h); n != 0 || len(h.letters) != 0 {
				t.Errorf("%d records were met twice, %d are dead letters", n, len(h.letters))
			}
			now, _, _, tries, _ := owners.seen()
			if now-joins > c.joins {
				t.Errorf("the member joined %d times more, want %d at most", now-joins, c.joins)
			}
			// Once a second, and no storm. The client repeats what was cut off at once.
			if most := int(time.Since(began).Seconds()) + 4; tries-commits > most {
				t.Errorf("%d commits of offsets in %s", tries-commits, time.Since(began))
			}
			if rebuilt := m.count("oriel_consumer_client_rebuilds_total"); rebuilt != 0 || !m.Status().Ready() {
				t.Errorf("built anew %v times, %+v", rebuilt, m.Status())
			}
		})
	}
}

// taken lets the group take the next two commits of offsets, and answers an error instead.
func taken(answer *kerr.Error) func(*testing.T, *rig, *wires) func() int {
	return func(t *testing.T, r *rig, _ *wires) func() int {
		client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Brokers...))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		var suffered atomic.Int32
		var passing atomic.Bool // the commit in hand is our own
		r.cluster.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
			r.cluster.KeepControl()
			commit, ok := req.(*kmsg.OffsetCommitRequest)
			if !ok || passing.Load() || suffered.Load() >= 2 {
				return nil, nil, false
			}
			passing.Store(true)
			var passed error
			again := *commit
			r.cluster.SleepControl(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
				defer cancel()
				resp, err := again.RequestWith(ctx, client)
				if passed = err; err == nil {
					passed = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
				}
			})
			passing.Store(false)
			if passed != nil {
				t.Errorf("the group does not take the offsets: %v", passed)
			}
			suffered.Add(1)
			resp := commit.ResponseKind().(*kmsg.OffsetCommitResponse)
			for _, topic := range commit.Topics {
				told := kmsg.OffsetCommitResponseTopic{Topic: topic.Topic, TopicID: topic.TopicID}
				for _, p := range topic.Partitions {
					told.Partitions = append(told.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: answer.Code})
				}
				resp.Topics = append(resp.Topics, told)
			}
			return resp, nil, true
		})
		return func() int { return int(suffered.Load()) }
	}
}

// lost loses the answers to the next commits of offsets, which the group took.
func lost(hows ...lostAs) func(*testing.T, *rig, *wires) func() int {
	return func(_ *testing.T, _ *rig, w *wires) func() int {
		for _, how := range hows {
			w.lose(int16(kmsg.OffsetCommit), how)
		}
		return w.heard
	}
}

// heard is how many answers were lost.
func (w *wires) heard() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// What Kafka was told is no place to start from: an offset that is too low repeats nothing, one that is too high
// skips nothing, and none is no reason to begin at the start.
func TestAMemberStartsFromTheCheckpointWhateverKafkaWasTold(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]func(end int64) int64{
		"an offset that is too low":           func(int64) int64 { return 3 },
		"an offset that is too high":          func(end int64) int64 { return end - 2 },
		"an offset beyond the end of the log": func(end int64) int64 { return end + 1000 },
		"the start of the log":                func(int64) int64 { return 0 },
		"no offset":                           nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachRig(t, 1, func(t *testing.T, r *rig) {
				s := r.script()
				first := r.join("first")
				s.write(2*batchOfMember, 0)
				r.verify()
				first.leave()
				s.write(2*batchOfMember, 0)
				r.tell(told)
				r.join("second")
				waitCaughtUp(t, r.pool, r.broker)
				r.waitTold()      // of what is durable, in place of what we told
				r.forgetCommits() // ours may well be ahead
				s.write(batchOfMember, 0)
				waitCaughtUp(t, r.pool, r.broker)
				for _, broken := range r.gather().check() {
					t.Error(broken)
				}
				if n := duplicates(r.gather()); n != 0 {
					t.Errorf("%d records were met twice", n)
				}
			})
		})
	}
}

// tell commits an offset to a group without members, or deletes what it has.
func (r *rig) tell(told func(end int64) int64) {
	r.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Brokers...))
	if err != nil {
		r.t.Fatal(err)
	}
	defer client.Close()
	adm := kadm.NewClient(client)
	var last error
	apptest.Eventually(r.t, time.Minute, func() bool {
		if told == nil {
			resp, err := adm.DeleteOffsets(r.t.Context(), r.group, kadm.TopicsSet{r.broker.Topic: {0: {}}})
			last = errors.Join(err, resp.Error())
			return last == nil
		}
		var offsets kadm.Offsets
		offsets.Add(kadm.Offset{Topic: r.broker.Topic, At: told(logEnds(r.t, r.broker, r.broker.Topic)[0]), LeaderEpoch: -1})
		resp, err := adm.CommitOffsets(r.t.Context(), r.group, offsets)
		last = errors.Join(err, resp.Error())
		return last == nil
	}, func() string { return fmt.Sprintf("the group's offset cannot be set: %v", last) })
}

// forgetCommits drops the commits of offsets that were watched so far.
func (r *rig) forgetCommits() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commits = nil
}

// told is the group's offset of a partition.
func (r *rig) told(part int32) int64 {
	r.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Brokers...))
	if err != nil {
		r.t.Fatal(err)
	}
	defer client.Close()
	offsets, err := kadm.NewClient(client).FetchOffsets(r.t.Context(), r.group)
	if err != nil {
		r.t.Fatal(err)
	}
	o, ok := offsets.Lookup(r.broker.Topic, part)
	if !ok || o.Err != nil {
		r.t.Fatalf("the group has no offset: %v", o.Err)
	}
	return o.At
}
