package consume

import (
	"context"
	"fmt"

	"oriel/server/db"
	"oriel/server/failpoint"

	"github.com/jackc/pgx/v5"
)

// resolution is what the checkpoint says of a COMMIT whose answer was lost.
type resolution uint8

const (
	committed resolution = iota
	notCommitted
	lostOwnership
)

func (r resolution) String() string {
	return [...]string{"committed", "not_committed", "fenced"}[r]
}

// resolve reads, on another connection, whether a batch became durable. It waits for the row's lock,
// which the old backend holds as long as it may still commit; while it does, the error is a lock
// timeout and the caller asks again. The commit counter decides, not the offset: an operator may have
// rewound meanwhile, and the counter never goes back.
func (c *Consumer) resolve(ctx context.Context, pos position, commit int64) (resolution, error) {
	conn, err := c.acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer giveBack(ctx, conn)
	var row db.LockCheckpointRow
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		row, err = c.queries.WithTx(tx).LockCheckpoint(ctx, db.LockCheckpointParams{
			Consumer: c.cfg.Consumer, Log: pos.log, Partition: pos.part,
		})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read the checkpoint: %w", err)
	}
	switch {
	case row.OwnerEpoch != pos.epoch:
		return lostOwnership, nil
	case row.Commits >= commit:
		return committed, nil
	case row.NextOffset == pos.next:
		return notCommitted, nil
	default:
		return lostOwnership, nil
	}
}

// resolveUnknown asks the checkpoint until it answers; ok is false when the worker must stop first.
func (w *worker) resolveUnknown(pos position, ce *commitError) (r resolution, ok bool) {
	w.log.Warn("the answer to COMMIT was lost: reading the checkpoint", "commit", ce.commit, "error", ce.err)
	w.c.metrics.retries.WithLabelValues(unknownOutcome.String()).Inc()
	failpoint.Hit("con.commit_unknown")
	for n := 0; ; n++ {
		var r resolution
		err := w.c.within(w.hard, func(ctx context.Context) (err error) {
			r, err = w.c.resolve(ctx, pos, ce.commit)
			return err
		})
		if err == nil {
			w.c.metrics.unknown.WithLabelValues(r.String()).Inc()
			w.log.Info("the checkpoint answered for the lost COMMIT", "commit", ce.commit, "resolution", r.String())
			return r, true
		}
		if !w.backOff(w.hard, n, environment, fmt.Errorf("resolve commit %d: %w", ce.commit, err)) {
			return 0, false
		}
	}
}
