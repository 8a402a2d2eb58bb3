package maintain

import (
	"context"
	"fmt"

	"oriel/server/db"
)

// trimLog tells TrimLog what nobody needs any more.
func (m *Maintainer) trimLog(ctx context.Context) error {
	if m.TrimLog == nil {
		return nil
	}
	rows, err := m.queries.LowestOffsets(ctx)
	if err != nil {
		return fmt.Errorf("read the lowest offsets: %w", err)
	}
	if rows, err = m.ofLog(ctx, rows); err != nil || len(rows) == 0 {
		return err
	}
	lowest := make(map[int32]int64, len(rows))
	for _, r := range rows {
		lowest[r.Partition] = r.NextOffset
	}
	if err := m.TrimLog(ctx, lowest); err != nil {
		return fmt.Errorf("trim the broker's log: %w", err)
	}
	return nil
}

// ofLog keeps the rows of the log that is trimmed, and none where it is not certain which that is.
func (m *Maintainer) ofLog(ctx context.Context, rows []db.LowestOffsetsRow) ([]db.LowestOffsetsRow, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	topic, id := rows[0].Topic, rows[0].TopicID
	if m.Log != nil {
		var err error
		if topic, id, err = m.Log(ctx); err != nil {
			return nil, fmt.Errorf("ask which log the broker has: %w", err)
		}
	}
	var kept []db.LowestOffsetsRow
	for _, r := range rows {
		switch {
		case r.Topic == topic && r.TopicID == id:
			kept = append(kept, r)
		case m.Log == nil:
			return nil, nil
		}
	}
	return kept, nil
}
