package consume

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"oriel/server/failpoint"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// assigned runs before the takeover; it may be called with nothing.
func (s *session) assigned(_ context.Context, _ *kgo.Client, added map[string][]int32) {
	<-s.built
	s.c.log.Info("partitions assigned", "partitions", added[s.c.cfg.Topic])
	if len(added[s.c.cfg.Topic]) == 0 {
		s.c.status.joined(len(s.partitions()))
	}
}

// revoked finishes the transactions in hand and tells Kafka their offsets before it returns: after
// it, the next owner takes over. It must neither close the client nor leave the group.
func (s *session) revoked(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	<-s.built
	ps := gone[s.c.cfg.Topic]
	if len(ps) > 0 {
		s.c.log.Info("partitions revoked", "partitions", ps)
		failpoint.Hit("con.in_revoke")
	}
	bounded, cancel := context.WithTimeout(s.work, drainIn)
	defer cancel()
	s.drop(bounded, ps, true)
}

// lost is revoked without a commit: the group has given the partitions to somebody else.
func (s *session) lost(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	<-s.built
	ps := gone[s.c.cfg.Topic]
	s.c.log.Warn("partitions lost", "partitions", ps)
	bounded, cancel := context.WithTimeout(s.work, drainIn)
	defer cancel()
	s.drop(bounded, ps, false)
}

// holding is what this member holds of a partition at one instant.
type holding struct {
	part   int32
	owner  *ownership
	worker *worker // nil while the partition is stuck or being taken over again
}

func (s *session) holdings(ps []int32) []holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	hs := make([]holding, 0, len(ps))
	for _, p := range ps {
		if o := s.owned[p]; o != nil {
			hs = append(hs, holding{p, o, o.worker})
		}
	}
	return hs
}

// drop ends the ownership of partitions: workers drain in parallel, offsets are committed where
// wanted, and what was queued is forgotten.
func (s *session) drop(ctx context.Context, ps []int32, commit bool) {
	held := s.holdings(ps)
	s.mu.Lock()
	for i := range held {
		held[i].owner.gone = true
		held[i].worker = held[i].owner.worker // a takeover may have begun one since
	}
	s.mu.Unlock()
	var drained sync.WaitGroup
	for _, h := range held {
		if h.worker != nil {
			drained.Add(1)
			go func() { defer drained.Done(); h.worker.drain(ctx) }()
		}
	}
	drained.Wait()

	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	if commit {
		s.commitOffsets(ctx, held)
	}
	s.mu.Lock()
	for _, h := range held {
		if s.owned[h.part] == h.owner {
			delete(s.owned, h.part)
			delete(s.seeks, h.part)
		}
	}
	n := len(s.owned)
	s.mu.Unlock()
	s.resume(ps)
	for _, h := range held {
		s.c.status.forget(h.part)
		s.c.metrics.forget(h.part)
	}
	if len(held) > 0 {
		s.c.status.joined(n)
	}
}

// resume undoes a pause, which would outlive the partition's time with us.
func (s *session) resume(ps []int32) {
	if len(ps) > 0 {
		s.cl.ResumeFetchPartitions(map[string][]int32{s.c.cfg.Topic: ps})
	}
}

// commitAll tells Kafka once a second how far the checkpoints are, for people and tools that look at
// the group's lag. Nothing depends on it.
func (s *session) commitAll(ctx context.Context) {
	for wait(ctx, time.Second) {
		s.commitMu.Lock()
		s.commitOffsets(ctx, s.holdings(s.partitions()))
		s.commitMu.Unlock()
	}
}

// commitOffsets commits what is durable where Kafka was told something else before: less by us, or more
// by an operator of ours who moved the checkpoint, or by a tool that moved the group alone. The caller
// holds commitMu, so that no partition changes hands meanwhile.
func (s *session) commitOffsets(ctx context.Context, held []holding) {
	offsets := map[int32]kgo.EpochOffset{}
	for _, h := range held {
		if h.worker == nil {
			continue
		}
		if at := h.worker.at().next; at != h.owner.hint {
			offsets[h.part] = kgo.EpochOffset{Epoch: -1, Offset: at}
		}
	}
	if len(offsets) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, offsetCommitIn)
	defer cancel()
	failpoint.Hit("con.before_kcommit")
	failed, err := s.commitSync(ctx, offsets)
	if err != nil {
		s.offsetsFailed(err, "partitions", slices.Collect(maps.Keys(offsets)))
		return
	}
	failpoint.Hit("con.after_kcommit")
	for _, h := range held {
		o, ok := offsets[h.part]
		switch e := failed[h.part]; {
		case !ok:
		case e == nil:
			h.owner.hint = o.Offset
		default:
			s.offsetsFailed(e, "partition", h.part)
		}
	}
}

// offsetsFailed counts and tells what became of offsets, by the table of kafkaerrors.go.
func (s *session) offsetsFailed(err error, which string, partitions any) {
	r := diagnoseOffsets(err)
	s.c.metrics.offsetErrors.WithLabelValues(r.fate.String()).Inc()
	level := slog.LevelInfo
	if r.fate == offsetsRefused {
		level = slog.LevelError
	}
	s.c.log.Log(context.Background(), level, "Kafka did not take offsets; the checkpoints have them",
		which, partitions, "fate", r.fate.String(), "why", r.why, "error", err)
}

func (s *session) commitSync(ctx context.Context, offsets map[int32]kgo.EpochOffset) (failed map[int32]error, err error) {
	failed = map[int32]error{}
	s.cl.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{s.c.cfg.Topic: offsets},
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, commitErr error) {
			if err = commitErr; err != nil {
				return
			}
			for i := range resp.Topics {
				for _, p := range resp.Topics[i].Partitions {
					if e := kerr.ErrorForCode(p.ErrorCode); e != nil {
						failed[p.Partition] = e
					}
				}
			}
		})
	return failed, err
}
