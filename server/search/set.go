package search

import (
	"context"
	"time"

	"oriel/server/query"
)

// set is the newest events of a filter in a view, at most limits.set of them. It is kept for those who ask for
// the same: counts, facets and histograms of one filter and snapshot are made of one set. One that its budget
// ended goes on when it is asked for again later.
func (s *Service) set(ctx context.Context, ses *session, where query.And, v *view) (*set, error) {
	return s.sets.get(ctx, v.token()+" "+query.Canonical(where), func(before *set) (*set, error) {
		return s.findSet(ctx, ses, where, v, before)
	})
}

// findSet makes a set, or another one that goes on where the one before ended.
func (s *Service) findSet(ctx context.Context, ses *session, where query.And, v *view, before *set) (*set, error) {
	if before == nil {
		before = &set{}
	}
	p := scan{
		Service: s, limits: s.limits, ses: ses, where: where, view: v, most: s.limits.set - len(before.found), brief: true,
		at: before.next, walked: before.walked,
	}
	p.limits.probe, p.limits.peek = max(p.limits.probe, p.limits.set), p.limits.walk
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	found, next := p.result()
	out := &set{relation: IsExact, covered: Covered{v.window.From.Time(), v.window.Until.Time()}, rounds: before.rounds + 1}
	out.found = make([]match, 0, len(before.found)+len(found))
	out.found = append(out.found, before.found...)
	for _, r := range found {
		out.found = append(out.found, r.match())
	}
	out.matches = out.found
	if next == nil {
		return out, nil
	}
	out.relation = IsAtLeast
	end := next.until()
	switch {
	case p.full():
		end = p.found[p.most].key.at + 1 // it is known where the next one is
	case len(out.found) < s.limits.set:
		out.next, out.walked = next, p.walked
		if out.rounds < s.limits.rounds {
			out.again = time.Now().Add(s.limits.pause)
		}
	}
	out.covered.From = time.UnixMicro(max(end, v.window.From.Micros)).UTC()
	whole := len(out.found)
	for whole > 0 && out.found[whole-1].key.at < end {
		whole--
	}
	out.matches = out.found[:whole]
	return out, nil
}

// bytes is what the set takes in memory, roughly.
func (s *set) bytes() int {
	const each = 200
	n := each
	for i := range s.found {
		m := &s.found[i]
		n += each + len(m.kind) + len(m.source) + len(m.subject)
		for _, list := range [][]string{m.tags, m.facets} {
			for _, v := range list {
				n += 16 + len(v)
			}
		}
	}
	return n
}
