package consume

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"oriel/server/dbtest"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestEveryRowOfTheTableOfOffsetCommitsIsMetForReal(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	met := map[*kerr.Error]bool{}
	check := func(t *testing.T, err error, want offsetFate) {
		t.Helper()
		if r := diagnoseOffsets(err); r.fate != want || r.why == "" {
			t.Errorf("%v is %q (%s), want %q", err, r.fate, r.why, want)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, r := range offsetRules() {
			for _, e := range r.errs {
				if errors.Is(err, e) {
					met[e] = true
				}
			}
		}
	}
	t.Run("on each broker", func(t *testing.T) {
		dbtest.EachBroker(t, 1, func(t *testing.T, b dbtest.Broker) {
			// A group with a member takes no offsets from anybody else.
			name := "g-" + b.Topic
			cl := client(t, b, kgo.ConsumerGroup(name), kgo.ConsumeTopics(b.Topic), kgo.DisableAutoCommit())
			mustProduce(t, b, series(0, 0, 1)...)
			for cl.PollFetches(t.Context()).NumRecords() == 0 {
			}
			commit := func(group string, o kadm.Offset) error {
				var offsets kadm.Offsets
				offsets.Add(o)
				resp, err := kadm.NewClient(client(t, b)).CommitOffsets(t.Context(), group, offsets)
				return errors.Join(err, resp.Error())
			}
			check(t, commit(name, kadm.Offset{Topic: b.Topic, At: 1}), offsetsOther)
			if b.Kind == "apache" {
				check(t, commit("other-"+b.Topic, kadm.Offset{Topic: b.Topic, At: 1, Metadata: strings.Repeat("x", 5000)}), offsetsRefused)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			s := &session{c: &Consumer{cfg: Config{Topic: b.Topic}}, cl: cl}
			_, err := s.commitSync(ctx, map[int32]kgo.EpochOffset{0: {Offset: 1, Epoch: -1}})
			check(t, err, offsetsMaybe)
			if failed, err := s.commitSync(t.Context(), map[int32]kgo.EpochOffset{0: {Offset: 1, Epoch: -1}}); err != nil || len(failed) > 0 {
				t.Errorf("the member's own commit: %v %v", failed, err)
			}
		})
	})
	t.Run("on a broker that is made to", func(t *testing.T) {
		for _, r := range append(offsetRules(), offsetRule{errs: []*kerr.Error{kerr.UnknownServerError}, fate: offsetsAgain}) {
			for _, e := range r.errs {
				t.Run(e.Message, func(t *testing.T) {
					t.Parallel()
					cluster, b := faultyBroker(t, 1)
					rig := newRig(t, b)
					m := rig.start(nil)
					rig.produce(series(0, 0, 5)...)
					rig.settle()
					cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: e, Count: 3})
					rig.produce(series(0, 5, 5)...)
					// The client tries again by itself for some of them, so that nothing is seen here.
					rig.await("the offsets are committed after all", func() bool {
						committed, err := rig.admin.FetchOffsets(t.Context(), m.cfg.Group)
						o, ok := committed.Lookup(b.Topic, 0)
						return err == nil && ok && o.At == 10
					})
					got := labels(t, m.registry, "oriel_consumer_offset_commit_errors_total", "fate")
					for fate, n := range got {
						if n > 0 && fate != r.fate.String() && fate != offsetsOther.String() {
							t.Errorf("%v was counted as %q, want %q", e, fate, r.fate)
						}
					}
					if !slices.Contains([]*kerr.Error{kerr.NotCoordinator, kerr.CoordinatorNotAvailable, kerr.CoordinatorLoadInProgress}, e) && got[r.fate.String()] == 0 {
						t.Errorf("%v was not counted as %q: %v", e, r.fate, got)
					}
					check(t, fmt.Errorf("commit: %w", e), r.fate)
					rig.settle()
					rig.expect(tally{stored: 10}) // nothing was read again
					if s := m.Status(); !s.Ready() {
						t.Errorf("status %+v", s)
					}
				})
			}
		}
	})
	for _, r := range offsetRules() {
		for _, e := range r.errs {
			if !met[e] && !t.Failed() {
				t.Errorf("%v was never met", e)
			}
		}
	}
}
