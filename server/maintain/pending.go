package maintain

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// cleanPendingLists moves what was written into the main structure of the vocabulary index of every day
// that was written to since. The server's limit is set so high that no batch does that by itself, which
// would cost it tens of milliseconds. Indexes that we do not own are their owner's to clean.
func (m *Maintainer) cleanPendingLists(ctx context.Context) error {
	rows, err := m.pool.Query(ctx, `
		SELECT i.inhrelid, s.n_tup_ins
		  FROM pg_inherits i
		  JOIN pg_index x ON x.indexrelid = i.inhrelid
		  JOIN pg_class c ON c.oid = x.indrelid
		  JOIN pg_stat_user_tables s ON s.relid = x.indrelid
		 WHERE i.inhparent = 'event_lexemes'::regclass AND pg_has_role(c.relowner, 'USAGE')`)
	if err != nil {
		return fmt.Errorf("list the vocabulary indexes: %w", err)
	}
	now := make(map[uint32]int64, len(m.written))
	var index uint32
	var written int64
	if _, err := pgx.ForEachRow(rows, []any{&index, &written}, func() error {
		now[index] = written
		return nil
	}); err != nil {
		return fmt.Errorf("list the vocabulary indexes: %w", err)
	}
	var errs []error
	for index, written := range now {
		if was, known := m.written[index]; known && was == written {
			continue
		}
		// The day may be dropped meanwhile: then there is nothing to clean.
		if _, err := m.pool.Exec(ctx, `SELECT gin_clean_pending_list(oid) FROM pg_class WHERE oid = $1`, index); err != nil {
			errs = append(errs, fmt.Errorf("clean the pending list of index %d: %w", index, err))
			delete(now, index) // again at the next turn
		}
	}
	m.written = now
	return errors.Join(errs...)
}
