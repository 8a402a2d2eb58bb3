package search

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// choose is probe and branch: words with few hits are answered by all of them, others by walking in
// order, and what has no words is left to the planner for as long as the budget lasts.
func (p *pager) choose(ctx context.Context, drivable bool) error {
	if p.token != nil && p.token.walk {
		return p.walk(ctx, p.view.window)
	}
	if drivable {
		n, err := p.probe(ctx, p.view.window, p.limits.probe)
		if err != nil {
			return err
		}
		if n > p.limits.probe {
			return p.dense(ctx)
		}
		p.ses.plan = planCandidates
		return p.candidates(ctx, n, p.view.window)
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
func (p *pager) attempt(ctx context.Context) (done bool, err error) {
	p.ses.plan = planOrdered
	if err := p.ses.within(ctx, p.limits.budget); err != nil {
		return false, err
	}
	if err = p.drain(ctx, p.view.window, fromPlanner); err == nil {
		return true, p.ses.within(ctx, p.limits.statement)
	}
	if !cancelled(err) {
		return false, err
	}
	p.deadline = time.Now().Add(p.limits.budget)
	return false, p.ses.restart(ctx, p.limits.statement)
}

// probe counts the hits of the words as far as one above most. A count that takes too long is above.
func (p *pager) probe(ctx context.Context, w window, most int) (n int, err error) {
	if err := p.ses.within(ctx, p.limits.probing); err != nil {
		return 0, err
	}
	sql, args := compileProbe(p.req.Filter.Where, p.view, w, most+1, p.vocabulary)
	if err := p.ses.QueryRow(ctx, sql, args...).Scan(&n); err != nil {
		if !cancelled(err) {
			return 0, fmt.Errorf("probe words: %w", err)
		}
		return most + 1, p.ses.restart(ctx, p.limits.statement)
	}
	return n, p.ses.within(ctx, p.limits.statement)
}

// candidates takes the n hits of the words, which are all there are.
func (p *pager) candidates(ctx context.Context, n int, w window) error {
	if n == 0 {
		return nil
	}
	return p.drain(ctx, w, fromWords)
}

// walk reads the page index in order, whatever the planner would like better.
func (p *pager) walk(ctx context.Context, w window) error {
	p.ses.plan, p.walked = planWalk, true
	return p.drain(ctx, w, fromPageIndex)
}

// dense answers words with many hits: they may be everywhere, or all on one day. The newest rows of the
// page index answer the first kind; else each day in turn is answered by all its hits where they are
// few, and by the page index where they are many.
func (p *pager) dense(ctx context.Context) error {
	p.ses.plan = planDense
	walk := p.limits.walk
	p.limits.walk = p.limits.peek
	err := p.drain(ctx, p.view.window, fromPageIndex)
	p.limits.walk = walk
	if err != nil || p.full() || !p.stopped {
		return err
	}
	p.stopped = false
	if selective(p.req.Filter.Where) {
		if done, err := p.attempt(ctx); err != nil || done {
			return err
		}
		p.ses.plan = planDense
	}
	days, err := eventDays(ctx, p.ses)
	if err != nil {
		return err
	}
	if !p.backward() {
		slices.Reverse(days)
	}
	for _, day := range days {
		w, ok := p.left(day)
		if !ok {
			continue
		}
		if time.Now().After(p.deadline) {
			p.stopped = true
			return nil
		}
		n, err := p.probe(ctx, w, p.limits.dayProbe)
		if err != nil {
			return err
		}
		if n > p.limits.dayProbe {
			err = p.drain(ctx, w, fromPageIndex)
		} else {
			err = p.candidates(ctx, n, w)
		}
		if err != nil || p.full() || p.stopped {
			return err
		}
		edge := cutBelow(w.from.Micros)
		if p.backward() {
			edge = cutBelow(w.until.Micros)
		}
		p.at = &edge
	}
	return nil
}

// selective says whether a field beside the words has an index of its own.
func selective(where And) bool {
	return slices.ContainsFunc(where, func(n Node) bool {
		switch n := n.(type) {
		case Equal:
			return true
		case AtLeast:
			return n.Rank >= errorRank
		case Or: // of values of one field
			return len(n) > 0 && selective(And(n[:1]))
		default:
			return false
		}
	})
}

// left is what of a day lies in the window and beyond the cut.
func (p *pager) left(day time.Time) (window, bool) {
	w := window{instantOf(day), instantOf(day.Add(oneDay))}
	w.from.Micros = max(w.from.Micros, p.view.window.from.Micros)
	if until := p.view.window.until; until.Given {
		w.until.Micros = min(w.until.Micros, until.Micros)
	}
	if p.at != nil && p.backward() {
		w.from.Micros = max(w.from.Micros, p.at.from())
	} else if p.at != nil {
		w.until.Micros = min(w.until.Micros, p.at.until())
	}
	return w, w.from.Micros < w.until.Micros
}
