package consume

import (
	"context"
	"errors"
	"fmt"
	"time"

	"oriel/server/db"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// retakeFrom is retake for the worker that met the fence, if it is still the partition's.
func (s *session) retakeFrom(w *worker) {
	s.mu.Lock()
	o := s.owned[w.part]
	s.mu.Unlock()
	if o == nil || o.worker != w {
		return
	}
	s.retakeOwner(w.part, o, w, "the checkpoint moved or changed hands")
}

// retake takes a partition over again while it stays assigned: an operator rewound the checkpoint, or
// another member had it for a while. The group has to confirm that it is ours. Its worker finishes and a new one begins where the checkpoint is.
func (s *session) retake(p int32, why string) {
	s.mu.Lock()
	o := s.owned[p]
	var w *worker
	if o != nil {
		w = o.worker
	}
	s.mu.Unlock()
	if w != nil {
		s.retakeOwner(p, o, w, why)
	}
}

func (s *session) retakeOwner(p int32, o *ownership, w *worker, why string) {
	s.mu.Lock()
	if s.owned[p] != o || o.gone || o.worker != w {
		s.mu.Unlock()
		return // somebody else is at it
	}
	o.worker = nil // records polled from here on are from the old position: dropped
	s.mu.Unlock()
	s.c.log.Warn("taking the partition over again", "partition", p, "why", why)
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		bounded, cancel := context.WithTimeout(s.tasks, drainIn)
		w.drain(bounded)
		cancel()
		for n := 0; s.stillOwns(p, o); n++ {
			var claims map[int32]claim
			err := s.confirm(s.tasks)
			unconfirmed := err != nil
			if unconfirmed {
				s.c.metrics.unconfirmed.Inc()
			} else {
				claims, err = s.claim(s.tasks, []int32{p})
			}
			if err == nil {
				s.found(p, o, claims[p])
				return
			}
			s.retrying(p, o, err)
			s.c.log.Warn("cannot take the partition over again yet", "partition", p, "error", err)
			pause := jitter(n)
			if unconfirmed {
				pause = min(pause, confirmAgain)
			}
			if !wait(s.tasks, pause) {
				return
			}
		}
	}()
}

// A look at the group is short: whoever has left it learns that by its client, within its session.
const (
	confirmIn    = 5 * time.Second
	confirmAgain = time.Second
)

// confirm asks the group's coordinator whether we are a member of its present generation. A replica that is
// cut off from the coordinator alone does not know yet that its partitions are another's: it must not take
// them back each time that their owner takes them, and back again. A group that is about to rebalance has
// given nothing away yet.
func (s *session) confirm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, confirmIn)
	defer cancel()
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group = s.c.cfg.Group
	req.MemberID, req.Generation = s.cl.GroupMetadata()
	resp, err := req.RequestWith(ctx, s.cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil && !errors.Is(err, kerr.RebalanceInProgress) {
		return fmt.Errorf("the group does not confirm that we are its member: %w", err)
	}
	return nil
}

// retrying says that a partition waits, unless it was given up meanwhile: then nobody would ever take that back.
func (s *session) retrying(p int32, o *ownership, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owned[p] == o && !o.gone {
		s.c.status.retry(p, fit(err.Error(), 300))
	}
}

func (s *session) stillOwns(p int32, o *ownership) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owned[p] == o && !o.gone
}

// found hands a new position to the poll loop, which alone may seek: it knows that no record of the
// old position is on its way to the new worker.
func (s *session) found(p int32, o *ownership, cl claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owned[p] != o || o.gone {
		return
	}
	if cl.stuck != "" {
		s.settle(p, o, cl)
		return
	}
	s.seeks[p] = seek{owner: o, pos: cl.pos, epoch: cl.leaderEpoch}
	if s.wakePoll != nil {
		s.wakePoll()
	}
}

// applySeeks runs between two polls.
func (s *session) applySeeks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	offsets := map[int32]kgo.EpochOffset{}
	for p, k := range s.seeks {
		delete(s.seeks, p)
		if s.owned[p] != k.owner || k.owner.gone {
			continue
		}
		offsets[p] = kgo.EpochOffset{Epoch: k.epoch, Offset: k.pos.next}
		s.settle(p, k.owner, claim{pos: k.pos, leaderEpoch: k.epoch})
	}
	if len(offsets) > 0 {
		s.cl.SetOffsets(map[string]map[int32]kgo.EpochOffset{s.c.cfg.Topic: offsets})
	}
}

// stick stops a partition for an operator to decide, and stores that: what the broker says later may
// hide what was lost.
func (s *session) stick(p int32, state, reason string) {
	s.mu.Lock()
	o := s.owned[p]
	var w *worker
	if o != nil && !o.gone {
		w, o.worker = o.worker, nil
	}
	s.mu.Unlock()
	if w == nil {
		return
	}
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		bounded, cancel := context.WithTimeout(s.tasks, drainIn)
		w.drain(bounded)
		cancel()
		pos := w.at()
		for n := 0; s.stillOwns(p, o); n++ {
			err := s.c.within(s.tasks, func(ctx context.Context) error {
				_, err := s.c.queries.StickCheckpoint(ctx, db.StickCheckpointParams{
					Consumer: s.c.cfg.Consumer, Log: pos.log, Partition: p, OwnerEpoch: pos.epoch, State: state, Reason: reason,
				})
				return err
			})
			if err == nil {
				s.found(p, o, claim{pos: pos, stuck: state, reason: reason})
				return
			}
			s.retrying(p, o, err)
			if !wait(s.tasks, jitter(n)) {
				return
			}
		}
	}()
}
