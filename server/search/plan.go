package search

import (
	"context"
	"slices"
	"time"

	"oriel/server/query"
)

// choose is probe and branch: what an index bounds to few rows is answered by all of them, the rest by
// walking in order, and what no index of ours bounds is left to the planner for as long as the budget lasts.
func (p *scan) choose(ctx context.Context) error {
	if p.walked {
		return p.walk(ctx, p.view.window)
	}
	r := p.facts.routeOf(p.where)
	if r.keyed() {
		return p.keyed(ctx, r)
	}
	if p.view.arrivedOnly {
		places, few, err := p.arrivals(ctx, p.limits.probe)
		if err != nil {
			return err
		}
		if few {
			p.ses.plan = planCandidates
			return p.visit(ctx, places)
		}
	}
	if r != nil {
		places, few, err := p.probe(ctx, r, p.rest(), p.limits.probe)
		if err != nil {
			return err
		}
		if !few {
			return p.dense(ctx, r)
		}
		p.ses.plan = planCandidates
		return p.visit(ctx, places)
	}
	done, err := p.attempt(ctx)
	if err != nil || done {
		return err
	}
	// A combination of filters that no index serves: go on in order and say how far.
	return p.walk(ctx, p.view.window)
}

// attempt leaves the plan to the planner for as long as the budget lasts; done is false where that was
// not enough. What was found until then is kept: rows come in order.
func (p *scan) attempt(ctx context.Context) (done bool, err error) {
	p.ses.plan = planOrdered
	err = p.ses.try(ctx, p.limits.budget, p.limits.statement, func() error { return p.drain(ctx, p.view.window, fromPlanner) })
	if err == nil {
		return true, nil
	}
	if !cancelled(err) {
		return false, err
	}
	p.deadline = time.Now().Add(p.limits.budget)
	return false, nil
}

// probe finds the places of a route that lie in the window and beyond the cut, in order; few says that they
// are all, no more than most.
func (p *scan) probe(ctx context.Context, r route, w query.Window, most int) (places []key, few bool, err error) {
	sql, args := compileProbe(r, p.view, w, most+1, p.facts)
	return p.findPlaces(ctx, sql, args, most)
}

// inOrder sorts places as the scan goes, and drops those that it has passed.
func (p *scan) inOrder(places []key) []key {
	if p.at != nil {
		places = slices.DeleteFunc(places, func(k key) bool { return !p.at.beyond(k, p.backward) })
	}
	slices.SortFunc(places, key.compare)
	places = slices.Compact(places)
	if !p.backward {
		slices.Reverse(places)
	}
	return places
}

// walk reads the page index in order, whatever the planner would like better.
func (p *scan) walk(ctx context.Context, w query.Window) error {
	p.ses.plan, p.walked = planWalk, true
	return p.drain(ctx, w, fromPageIndex)
}

// dense answers words with many hits: they may be everywhere, or all on one day. The newest rows of the
// page index answer the first kind; else each day in turn is answered by all its hits where they are
// few, and by the page index where they are many.
func (p *scan) dense(ctx context.Context, r route) error {
	p.ses.plan = planDense
	walk := p.limits.walk
	p.limits.walk = p.limits.peek
	err := p.drain(ctx, p.view.window, fromPageIndex)
	p.limits.walk = walk
	if err != nil || p.full() || !p.stopped {
		return err
	}
	p.stopped = false
	if selective(p.where) {
		if done, err := p.attempt(ctx); err != nil || done {
			return err
		}
		p.ses.plan = planDense
	}
	return p.daily(ctx, func(w query.Window) error {
		places, few, err := p.probe(ctx, r, w, p.limits.dayProbe)
		if err != nil {
			return err
		}
		if !few {
			return p.drain(ctx, w, fromPageIndex)
		}
		return p.visit(ctx, places)
	})
}

// daily does f for what is left of each day, in order, until enough is found or the budget is spent.
func (p *scan) daily(ctx context.Context, f func(query.Window) error) error {
	for i, w := range p.daysLeft() {
		if i > 0 && time.Now().After(p.deadline) {
			p.stopped = true
			return nil
		}
		if err := p.passed(w, f(w)); err != nil || p.full() || p.stopped {
			return err
		}
	}
	return nil
}

// passed moves the scan to the end of a window that it has gone through.
func (p *scan) passed(w query.Window, err error) error {
	if err != nil || p.full() || p.stopped {
		return err
	}
	edge := cutBelow(w.From.Micros)
	if p.backward {
		edge = cutBelow(w.Until.Micros)
	}
	p.at = &edge
	return nil
}

// daysLeft is what of each day lies in the window and beyond the cut, in order.
func (p *scan) daysLeft() []query.Window {
	var out []query.Window
	for _, day := range p.ses.partitions {
		w := p.rest()
		w.From.Micros = max(w.From.Micros, day.UnixMicro())
		if until := day.Add(oneDay).UnixMicro(); !w.Until.Given || w.Until.Micros > until {
			w.Until = query.Instant{Micros: until, Given: true}
		}
		if w.From.Micros < w.Until.Micros {
			out = append(out, w)
		}
	}
	if !p.backward {
		slices.Reverse(out)
	}
	return out
}

// rest is what of the window lies beyond the cut.
func (p *scan) rest() query.Window {
	w := p.view.window
	if p.at == nil {
		return w
	}
	if p.backward {
		w.From.Micros = max(w.From.Micros, p.at.from())
		return w
	}
	if until := p.at.until(); !w.Until.Given || w.Until.Micros > until {
		w.Until = query.Instant{Micros: until, Given: true}
	}
	return w
}
