package search

import (
	"context"
	"math"
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
		return p.worded(ctx, r)
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
	p.deadline = time.Now().Add(p.limits.budget / 3)
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

// worded answers by words: the newest rows of the page index, where the words are in many of them, else the
// hits of runs of days.
func (p *scan) worded(ctx context.Context, r route) error {
	p.ses.plan = planDense
	if done, err := p.peek(ctx, p.view.window); done || err != nil {
		return err
	}
	p.ses.plan = planCandidates
	for i, run := range p.ladder(p.view.window) {
		if i > 0 && p.late() {
			return nil
		}
		if err := p.wordedRun(ctx, r, run); err != nil || p.full() || p.stopped {
			return err
		}
	}
	return nil
}

// peek reads a few rows of the page index, and on for as long as that promises to be enough. done says that nothing
// else is to be done.
func (p *scan) peek(ctx context.Context, w query.Window) (done bool, err error) {
	before, from, had := p.limits, p.examined, len(p.found)
	defer func() { p.limits = before }()
	most := min(before.peek, before.walk-from)
	for rows := min(before.glance, most); rows > 0; {
		p.limits.walk = from + rows
		p.limits.firstChunk = min(p.limits.walk-p.examined, before.lastChunk)
		if err := p.drain(ctx, w, fromPageIndex); err != nil || p.full() || !p.stopped {
			return true, err
		}
		if time.Now().After(p.deadline) {
			return true, nil
		}
		p.stopped = false
		if rows = promising(rows, len(p.found)-had, p.most+1-had, most); rows == 0 {
			return false, nil
		}
	}
	return false, nil
}

// promising is how many rows to read in all, after some of them had hits, where more hits are wanted of at most so many
// rows; 0 where that is not to be expected. Few hits are a matter of chance: a little more is read before it is
// believed that all is enough, or that it is not.
func promising(rows, hits, wanted, most int) int {
	chance := math.Sqrt(float64(hits))
	needed := float64(rows) * float64(wanted) / float64(most) // hits, of as many rows
	switch {
	case rows >= most || hits == 0 || float64(hits)+chance+1 < needed:
		return 0
	case float64(hits)-chance >= needed:
		return max(rows+1, rows*wanted/hits)
	default:
		return min(2*rows, most)
	}
}

// wordedRun answers a run of days by its hits where they are few, else day by day. A day of many hits is answered
// by the index of another condition where there is one, or by the page index: for as long as that promises to be
// enough, or where the hits of the day are very many.
func (p *scan) wordedRun(ctx context.Context, r route, run []query.Window) error {
	w := whole(run, p.backward)
	places, few, err := p.probe(ctx, r, w, p.limits.probe)
	if err != nil {
		return err
	}
	if few {
		return p.passed(w, p.visit(ctx, places))
	}
	p.ses.plan = planDense
	if len(run) > 1 {
		for i := range run {
			if i > 0 && p.late() {
				return nil
			}
			if err := p.wordedRun(ctx, r, run[i:i+1]); err != nil || p.full() || p.stopped {
				return err
			}
		}
		return nil
	}
	if selective(p.where) {
		err := p.ses.try(ctx, p.limits.budget, p.limits.statement, func() error { return p.drain(ctx, w, fromPlanner) })
		if err == nil || !cancelled(err) {
			return err
		}
	}
	if p.limits.dayProbe > p.limits.probe {
		if done, err := p.peek(ctx, w); done || err != nil {
			return err
		}
		if places, few, err = p.probe(ctx, r, w, p.limits.dayProbe); err != nil {
			return err
		}
	}
	if few {
		return p.passed(w, p.visit(ctx, places))
	}
	return p.drain(ctx, w, fromPageIndex)
}

// late stops a scan whose time is over.
func (p *scan) late() bool {
	p.stopped = time.Now().After(p.deadline)
	return p.stopped
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

// daysLeft is what of each day with rows lies in a window and beyond the cut, in order.
func (p *scan) daysLeft(within query.Window) []query.Window {
	rest := p.rest(within)
	var out []query.Window
	for _, day := range p.ses.filled {
		w := rest
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

// ladder is the days left in runs of growing length: most searches end in the first, and statements about few
// days are planned faster.
func (p *scan) ladder(within query.Window) [][]query.Window {
	days := p.daysLeft(within)
	var out [][]query.Window
	for size := 1; len(days) > 0; size *= 3 {
		n := min(size, len(days))
		out, days = append(out, days[:n]), days[n:]
	}
	return out
}

// whole is the window of a run of days.
func whole(run []query.Window, backward bool) query.Window {
	first, last := run[0], run[len(run)-1]
	if !backward {
		first, last = last, first
	}
	return query.Window{From: first.From, Until: last.Until}
}

// rest is what of a window lies beyond the cut.
func (p *scan) rest(w query.Window) query.Window {
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
