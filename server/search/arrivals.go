package search

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// compileArrivals finds the places of what arrived between a view's vectors, through event_commit, as far as limit,
// in no order.
func compileArrivals(v *view, limit int) (sql string, args []any) {
	var logs []int16
	var partitions []int32
	var above, through []int64
	for _, p := range v.upper {
		if low := v.lower.of(p.log, p.partition); low < p.commits {
			logs, partitions = append(logs, p.log), append(partitions, p.partition)
			above, through = append(above, low), append(through, p.commits)
		}
	}
	s := &statement{}
	most := s.param(limit, "bigint")
	return `SELECT occurred_at, log, partition, "offset" FROM unnest(` + s.param(logs, "smallint[]") + ", " + s.param(partitions, "integer[]") + ", " +
		s.param(above, "bigint[]") + ", " + s.param(through, "bigint[]") + `) AS v (l, p, a, t) CROSS JOIN LATERAL (
		SELECT occurred_at, log, partition, "offset" FROM event WHERE log = v.l AND partition = v.p AND commit > v.a AND commit <= v.t AND ` +
		s.span(v.window) + " LIMIT " + most + ") x LIMIT " + most, s.args
}

// arrivals finds the places of what arrived within the view's bounds and lies beyond the cut, in order; few says
// that they are all.
func (p *scan) arrivals(ctx context.Context, most int) (places []key, few bool, err error) {
	sql, args := compileArrivals(p.view, most+1)
	return p.findPlaces(ctx, sql, args, most)
}

// findPlaces runs a statement that finds places; few says that they are no more than most. One that takes too long
// finds many.
func (p *scan) findPlaces(ctx context.Context, sql string, args []any, most int) (places []key, few bool, err error) {
	err = p.ses.try(ctx, p.limits.probing, p.limits.statement, func() error {
		rows, err := p.ses.Query(ctx, sql, args...)
		if err != nil {
			return fmt.Errorf("look for candidates: %w", err)
		}
		var at time.Time
		var k key
		_, err = pgx.ForEachRow(rows, []any{&at, &k.log, &k.partition, &k.offset}, func() error {
			k.at = at.UnixMicro()
			places = append(places, k)
			return nil
		})
		if err != nil {
			return fmt.Errorf("look for candidates: %w", err)
		}
		return nil
	})
	switch {
	case cancelled(err):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case len(places) > most:
		return nil, false, nil
	}
	return p.inOrder(places), true, nil
}
