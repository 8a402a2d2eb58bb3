package auth

import (
	"context"
	"fmt"

	"oriel/server/db"
)

const (
	sweepBatch   = 1_000
	sweepBatches = 100 // of each kind in one call; the rest waits for the next
)

// Sweep deletes what has expired, in batches, so that no statement takes long. Replicas may sweep at once:
// each takes rows that no other holds. It is cheap where there is nothing to do.
func (s *Sessions) Sweep(ctx context.Context) error {
	for range sweepBatches {
		n, err := s.queries.SweepSessions(ctx, db.SweepSessionsParams{Idle: s.cfg.Idle.Seconds(), Batch: sweepBatch})
		if err != nil {
			return fmt.Errorf("sweep sessions: %w", err)
		}
		s.metrics.ended.WithLabelValues(endedExpired).Add(float64(n))
		if n < sweepBatch {
			break
		}
	}
	for range sweepBatches {
		n, err := s.queries.SweepSignIns(ctx, sweepBatch)
		if err != nil {
			return fmt.Errorf("sweep sign-ins: %w", err)
		}
		if n < sweepBatch {
			break
		}
	}
	s.dropSurplus(ctx)
	return nil
}
