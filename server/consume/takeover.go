package consume

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"oriel/server/db"
	"oriel/server/failpoint"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"
)

// claim is the result of taking a partition over: a position, or the state it is stuck in.
type claim struct {
	pos         position
	leaderEpoch int32
	stuck       string
	reason      string
}

// takeOver is what the client asks where to begin. Each partition's checkpoint gets a new owner epoch
// and its offset is where we seek to; partitions that are stuck are left out, so that they are not
// fetched. Errors of the environment are retried here, while the group hears our heartbeats: an error
// returned would end the session, and one that is a cancellation would end the membership for good.
func (s *session) takeOver(ctx context.Context, fetched map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	<-s.built
	group := fetched[s.c.cfg.Topic]
	if len(group) == 0 {
		return fetched, nil
	}
	ps := slices.Sorted(maps.Keys(group))
	s.forgetStale(ctx, ps)
	for _, p := range ps {
		s.c.status.works(p, true) // until a worker begins on it
	}
	var claims map[int32]claim
	for n := 0; ; n++ {
		var err error
		if claims, err = s.claim(ctx, ps); err == nil {
			break
		}
		if ctx.Err() == nil {
			s.c.log.Warn("cannot take partitions over yet", "partitions", ps, "error", err)
			s.c.status.waiting("taking over: " + fit(err.Error(), 300))
			for _, p := range ps {
				s.c.status.retry(p, "taking over: "+fit(err.Error(), 300))
			}
		}
		if ctx.Err() != nil || !wait(ctx, jitter(n)) {
			for _, p := range ps {
				s.c.status.forget(p) // it is not ours
			}
			return nil, ctx.Err()
		}
	}
	begin := map[int32]kgo.Offset{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, nil
	}
	for p, cl := range claims {
		o := &ownership{hint: group[p].EpochOffset().Offset}
		s.owned[p] = o
		s.settle(p, o, cl)
		if o.worker != nil {
			begin[p] = kgo.NewOffset().At(cl.pos.next).WithEpoch(cl.leaderEpoch)
		}
	}
	s.c.status.joined(len(s.owned))
	return map[string]map[int32]kgo.Offset{s.c.cfg.Topic: begin}, nil
}

// forgetStale ends workers of partitions that we are given once more, which happens when a rebalance
// interrupts a takeover.
func (s *session) forgetStale(ctx context.Context, ps []int32) {
	s.mu.Lock()
	var stale []int32
	for _, p := range ps {
		if s.owned[p] != nil {
			stale = append(stale, p)
		}
	}
	s.mu.Unlock()
	if len(stale) > 0 {
		s.drop(ctx, stale, false)
	}
}

// settle starts a worker on a claim, or records that the partition is stuck. The caller holds s.mu.
func (s *session) settle(p int32, o *ownership, cl claim) {
	topic := map[string][]int32{s.c.cfg.Topic: {p}}
	if cl.stuck != "" {
		o.stuck, o.worker = cl.stuck, nil
		s.c.status.forget(p)
		s.cl.PauseFetchPartitions(topic) // a client may go on fetching what it has seeked to
		s.c.status.stick(p, cl.stuck, cl.reason)
		s.c.metrics.setState(p, stateValue(cl.stuck))
		s.c.log.Error("the partition waits for an operator", "partition", p, "state", cl.stuck, "reason", cl.reason)
		return
	}
	o.stuck = ""
	o.worker = s.c.startWorker(s.work, s.key, cl.pos,
		func() { s.cl.PauseFetchPartitions(topic) },
		func() { s.cl.ResumeFetchPartitions(topic) },
		func(w *worker) { s.retakeFrom(w) }, s.stick)
	s.c.log.Info("partition taken over", "partition", p, "log", cl.pos.log, "epoch", cl.pos.epoch, "offset", cl.pos.next)
}

func stateValue(state string) float64 {
	switch state {
	case StateGap:
		return 2
	case StateTripped:
		return 4
	default:
		return 3
	}
}

// claim verifies the topic's identity, takes checkpoints over, and judges where they are.
//
// A log that is not the newest one with checkpoints is not ours to read: the partitions are fatal
// until an operator adopts it. That state follows from two durable facts and is not stored. What is
// stored are a checkpoint below the log's start (gap) and one beyond its end (fatal): the broker's
// view may change later and hide what was lost.
//
// The log's bounds are asked for after the takeover: before it, another owner may still advance the
// checkpoint over an end that we have read.
func (s *session) claim(ctx context.Context, ps []int32) (claims map[int32]claim, err error) {
	err = s.c.within(ctx, func(ctx context.Context) error {
		claims, err = s.claimOnce(ctx, ps)
		return err
	})
	return claims, err
}

func (s *session) claimOnce(ctx context.Context, ps []int32) (map[int32]claim, error) {
	id, _, err := describeTopic(ctx, s.cl, s.c.cfg.Topic)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.topicID = id
	s.mu.Unlock()
	claims, err := s.take(ctx, id, ps)
	if err != nil {
		return nil, err
	}
	if err := failpoint.Error("con.taken_over"); err != nil {
		return nil, err
	}
	bounds, err := s.bounds(ctx, ps)
	if err != nil {
		return nil, err
	}
	for p, cl := range claims {
		if cl.stuck != "" {
			continue
		}
		if cl.stuck, cl.reason = verdict(cl.pos.next, bounds[p]); cl.stuck == "" {
			continue
		}
		n, err := s.c.queries.StickCheckpoint(ctx, db.StickCheckpointParams{
			Consumer: s.c.cfg.Consumer, Log: cl.pos.log, Partition: p,
			OwnerEpoch: cl.pos.epoch, State: cl.stuck, Reason: cl.reason,
		})
		if err != nil {
			return nil, fmt.Errorf("record the state of partition %d: %w", p, err)
		}
		if n == 0 {
			return nil, fmt.Errorf("partition %d: %w", p, errFenced)
		}
		claims[p] = cl
	}
	return claims, nil
}

// take gives checkpoints a new owner epoch in one transaction, and makes those of partitions that were
// never seen of this log, at its start.
func (s *session) take(ctx context.Context, id topicID, ps []int32) (map[int32]claim, error) {
	conn, err := s.c.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer giveBack(ctx, conn)
	claims := make(map[int32]claim, len(ps))
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		q := s.c.queries.WithTx(tx)
		log, recreated, err := s.c.logOf(ctx, q, id)
		if err != nil {
			return err
		}
		if recreated != "" {
			for _, p := range ps {
				claims[p] = claim{stuck: StateFatal, reason: recreated}
			}
			return nil
		}
		if err := s.insertMissing(ctx, q, log, ps); err != nil {
			return err
		}
		rows, err := q.TakeOver(ctx, db.TakeOverParams{
			Consumer: s.c.cfg.Consumer, Log: log, Partitions: ps, Owner: s.c.cfg.Instance,
		})
		if err != nil {
			return fmt.Errorf("take the checkpoints over: %w", err)
		}
		for _, r := range rows {
			cl := claim{
				pos:         position{log: log, part: r.Partition, epoch: r.OwnerEpoch, next: r.NextOffset, commits: r.Commits, high: r.HighOffset},
				leaderEpoch: r.LeaderEpoch,
			}
			if r.State != StateRunning {
				cl.stuck = r.State
				if r.StateReason != nil {
					cl.reason = *r.StateReason
				}
			}
			claims[r.Partition] = cl
		}
		if len(claims) != len(ps) {
			return fmt.Errorf("took %d of %d checkpoints over", len(claims), len(ps))
		}
		return nil
	})
	return claims, err
}

// logOf is the log of the topic as it is now; recreated says why it is not ours to read.
func (c *Consumer) logOf(ctx context.Context, q *db.Queries, id topicID) (log int16, recreated string, err error) {
	newest, err := q.NewestLog(ctx, db.NewestLogParams{Topic: c.cfg.Topic, Consumer: c.cfg.Consumer})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		if log, err = q.EnsureLog(ctx, db.EnsureLogParams{Topic: c.cfg.Topic, TopicID: id}); err != nil {
			return 0, "", fmt.Errorf("record the log: %w", err)
		}
		return log, "", nil
	case err != nil:
		return 0, "", fmt.Errorf("find the log: %w", err)
	case newest.TopicID != id:
		return 0, fmt.Sprintf("the topic was recreated: its id is %s, the checkpoints are of %s; adopt the topic or restore it",
			id, topicID(newest.TopicID)), nil
	default:
		return newest.ID, "", nil
	}
}

func (s *session) insertMissing(ctx context.Context, q *db.Queries, log int16, ps []int32) error {
	known, err := q.KnownPartitions(ctx, db.KnownPartitionsParams{Consumer: s.c.cfg.Consumer, Log: log, Partitions: ps})
	if err != nil {
		return fmt.Errorf("read the checkpoints: %w", err)
	}
	if len(known) == len(ps) {
		return nil
	}
	bounds, err := s.bounds(ctx, ps)
	if err != nil {
		return err
	}
	for _, p := range ps {
		if slices.Contains(known, p) {
			continue
		}
		_, err := q.InsertCheckpoint(ctx, db.InsertCheckpointParams{
			Consumer: s.c.cfg.Consumer, Log: log, Partition: p, NextOffset: bounds[p][0],
		})
		if err != nil {
			return fmt.Errorf("record the checkpoint of partition %d: %w", p, err)
		}
	}
	return nil
}
