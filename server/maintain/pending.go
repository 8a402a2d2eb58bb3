package maintain

import (
	"context"
	"errors"
	"fmt"
)

// cleanPendingLists moves what was written into the main structure of the vocabulary index of every day
// that was written to since. The server's limit is set so high that no batch does that by itself, which
// would cost it tens of milliseconds. Indexes that the tables' owner does not own are left to their own.
func (m *Maintainer) cleanPendingLists(ctx context.Context) error {
	indexes, err := m.queries.VocabularyIndexes(ctx)
	if err != nil {
		return fmt.Errorf("list the vocabulary indexes: %w", err)
	}
	now := make(map[int64]int64, len(indexes))
	var errs []error
	for _, i := range indexes {
		if was, known := m.written[i.Index]; !known || was != i.Written {
			if err := m.queries.CleanPendingList(ctx, i.Index); err != nil {
				errs = append(errs, fmt.Errorf("clean the pending list of index %d: %w", i.Index, err))
				continue // again at the next turn
			}
		}
		now[i.Index] = i.Written
	}
	m.written = now
	return errors.Join(errs...)
}
