package consume

import (
	"context"
	"errors"
	"fmt"
)

// bounds are the start and the end of partitions' logs.
func (s *session) bounds(ctx context.Context, ps []int32) (map[int32][2]int64, error) {
	topic := s.c.cfg.Topic
	starts, err := s.adm.ListStartOffsets(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("list the log's start: %w", err)
	}
	ends, err := s.adm.ListEndOffsets(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("list the log's end: %w", err)
	}
	bounds := make(map[int32][2]int64, len(ps))
	for _, p := range ps {
		start, ok1 := starts.Lookup(topic, p)
		end, ok2 := ends.Lookup(topic, p)
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("the broker does not list partition %d", p)
		}
		if err := errors.Join(start.Err, end.Err); err != nil {
			return nil, fmt.Errorf("list the offsets of partition %d: %w", p, err)
		}
		bounds[p] = [2]int64{start.Offset, end.Offset}
	}
	return bounds, nil
}

// verdict is the state that a checkpoint is stuck in, or "". bounds are the log's start and end.
func verdict(next int64, bounds [2]int64) (state, reason string) {
	switch {
	case next < bounds[0]:
		return StateGap, fmt.Sprintf("the log starts at offset %d, above the checkpoint %d: %d offsets are gone; bring the log back or move the checkpoint",
			bounds[0], next, bounds[0]-next)
	case next > bounds[1]:
		return StateFatal, fmt.Sprintf("the log ends at offset %d, below the checkpoint %d: the broker lost records; bring the log back or move the checkpoint",
			bounds[1], next)
	default:
		return "", ""
	}
}
