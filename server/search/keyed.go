package search

import (
	"context"
	"fmt"
	"slices"
	"time"

	"oriel/server/db"
	"oriel/server/query"
)

// keyed answers by the index of identifiers: all candidates of a run of days at once where they are few, else
// day by day, and a day of too many by the page index. So is a day with rows that have no blocks.
func (p *scan) keyed(ctx context.Context, r route) error {
	p.ses.plan = planKeys
	bare, err := p.bareDays(ctx, p.daysLeft(p.view.window))
	if err != nil {
		return err
	}
	for i, run := range p.ladder(p.view.window) {
		if i > 0 && p.late() {
			return nil
		}
		if err := p.keyedRun(ctx, r, run, bare); err != nil || p.full() || p.stopped {
			return err
		}
	}
	return nil
}

func (p *scan) keyedRun(ctx context.Context, r route, run []query.Window, bare map[query.Instant]bool) error {
	w := whole(run, p.backward)
	some := slices.ContainsFunc(run, func(w query.Window) bool { return bare[w.From] })
	if !some {
		places, few, err := p.candidates(ctx, r, w)
		if err != nil {
			return err
		}
		if few {
			return p.passed(w, p.visit(ctx, places))
		}
	}
	if len(run) == 1 {
		return p.drain(ctx, w, fromPageIndex)
	}
	for i := range run {
		if i > 0 && p.late() {
			return nil
		}
		if err := p.keyedRun(ctx, r, run[i:i+1], bare); err != nil || p.full() || p.stopped {
			return err
		}
	}
	return nil
}

// candidates is the places of a route in a window that lie beyond the cut, in order; few says that they are
// all, and not too many.
func (p *scan) candidates(ctx context.Context, r route, w query.Window) (places []key, few bool, err error) {
	var sql route
	days := query.Window{From: query.InstantOf(w.From.Time().Truncate(oneDay)), Until: w.Until}
	for _, a := range r {
		if len(a.keys) == 0 {
			sql = append(sql, a)
			continue
		}
		hits, err := p.ses.blocks(ctx, a.keys, p.facts.reserved, p.view, days)
		if err != nil {
			return nil, false, err
		}
		n := 0
		for _, b := range hits {
			n += b.atMost()
		}
		if n > 4*p.limits.dayProbe {
			return nil, false, nil
		}
		found, err := p.ses.places(ctx, hits)
		if err != nil {
			return nil, false, err
		}
		places = append(places, found...)
	}
	if sql != nil {
		found, few, err := p.probe(ctx, sql, w, p.limits.dayProbe)
		if err != nil || !few {
			return nil, false, err
		}
		places = append(places, found...)
	}
	places = slices.DeleteFunc(places, func(k key) bool { return k.at < w.From.Micros || w.Until.Given && k.at >= w.Until.Micros })
	return p.inOrder(places), true, nil
}

// bareDays is which days have rows without blocks.
func (p *scan) bareDays(ctx context.Context, windows []query.Window) (map[query.Instant]bool, error) {
	q := db.New(p.ses.prepared())
	some, err := q.SomeBlockGap(ctx)
	if err != nil {
		return nil, fmt.Errorf("read which commits have no blocks: %w", err)
	}
	if !some {
		return nil, nil
	}
	days := make([]time.Time, len(windows))
	for i, w := range windows {
		days[i] = w.From.Time()
	}
	found, err := q.DaysWithoutBlocks(ctx, days)
	if err != nil {
		return nil, fmt.Errorf("read which days have no blocks: %w", err)
	}
	out := map[query.Instant]bool{}
	for _, day := range found {
		out[query.InstantOf(day)] = true
	}
	return out, nil
}
