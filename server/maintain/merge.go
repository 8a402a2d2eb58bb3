package maintain

import (
	"context"
	"errors"
	"fmt"

	"oriel/server/block"
	"oriel/server/db"

	"github.com/jackc/pgx/v5"
)

// errMoved says that blocks are no longer as they were planned with: somebody else is at them.
var errMoved = errors.New("the blocks are others by now")

// Merge makes few blocks of identifiers out of many, without reading events. Each merge is one transaction, so
// that a reader finds every row in one block, whatever it begins with.
func (m *Maintainer) Merge(ctx context.Context) error {
	for {
		blocks, err := m.queries.Blocks(ctx)
		if err != nil {
			return fmt.Errorf("list the blocks: %w", err)
		}
		due, behind := plan(blocks)
		sizes := map[string]float64{sizeSmall: 0, sizeOpen: 0, sizeFull: 0}
		for i := range blocks {
			sizes[sizeOf(&blocks[i])]++
		}
		for size, n := range sizes {
			m.metrics.blocks.WithLabelValues(size).Set(n)
		}
		m.metrics.behind.Set(behind.Seconds())
		if len(due) == 0 {
			return nil
		}
		merged, errs := 0, error(nil)
		for _, r := range due {
			switch err := m.mergeRun(ctx, r); {
			case err == nil:
				merged++
			case ctx.Err() != nil:
				return err
			case !errors.Is(err, errMoved):
				errs = errors.Join(errs, err) // the others need not wait for it
			}
		}
		if errs != nil || merged == 0 {
			return errs
		}
	}
}

// mergeRun makes one block of neighbours.
func (m *Maintainer) mergeRun(ctx context.Context, r run) error {
	first, last := &r[0], &r[len(r)-1]
	err := pgx.BeginFunc(ctx, m.pool, func(tx pgx.Tx) error {
		q := m.queries.WithTx(tx)
		if err := q.LockBlocks(ctx); err != nil {
			return err
		}
		taken, err := q.TakeBlocks(ctx, db.TakeBlocksParams{
			Day: first.Day, Log: first.Log, Partition: first.Partition, Version: first.Version,
			First: first.FromCommit, Last: last.FromCommit,
		})
		if err != nil {
			return err
		}
		if len(taken) != len(r) {
			return errMoved
		}
		parts := make([]*block.Block, len(r))
		highest := r[0].LastOffset
		for i := range taken {
			b := &taken[i]
			if b.FromCommit != r[i].FromCommit || b.ThroughCommit != r[i].ThroughCommit || b.Rows != r[i].Rows {
				return errMoved
			}
			highest = max(highest, b.LastOffset)
			parts[i] = &block.Block{
				Rows: int(b.Rows), Buckets: int(b.Buckets), Entries: int(b.Entries), BaseOffset: b.BaseOffset,
				Keys: b.Keys, Lists: b.Lists, Places: b.Places,
			}
		}
		whole, err := block.Merge(parts)
		if err != nil {
			return err
		}
		if _, err := q.DeleteBlocks(ctx, db.DeleteBlocksParams{
			Day: first.Day, Log: first.Log, Partition: first.Partition, Version: first.Version,
			First: first.FromCommit, Last: last.FromCommit,
		}); err != nil {
			return err
		}
		return q.InsertBlock(ctx, db.InsertBlockParams{
			Day: first.Day, Log: first.Log, Partition: first.Partition, Version: first.Version,
			FromCommit: first.FromCommit, ThroughCommit: last.ThroughCommit,
			Rows: int32(whole.Rows), Entries: int32(whole.Entries), Buckets: int32(whole.Buckets),
			BaseOffset: whole.BaseOffset, LastOffset: highest, Keys: whole.Keys, Lists: whole.Lists, Places: whole.Places,
		})
	})
	if err != nil {
		return fmt.Errorf("merge the blocks of %s, log %d, partition %d, commits %d to %d: %w",
			first.Day.UTC().Format("2006-01-02"), first.Log, first.Partition, first.FromCommit, last.ThroughCommit, err)
	}
	return nil
}
