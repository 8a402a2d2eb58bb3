package search

import (
	"context"

	"oriel/server/query"
)

// set is the newest events of a filter in a view, at most limits.set of them. It is kept for those who ask for
// the same: rows, counts, facets and histograms of one filter and snapshot are made of one set.
func (s *Service) set(ctx context.Context, ses *session, where query.And, v *view) (*set, error) {
	return s.sets.get(ctx, v.token()+" "+query.Canonical(where), func() (*set, error) { return s.findSet(ctx, ses, where, v) })
}

func (s *Service) findSet(ctx context.Context, ses *session, where query.And, v *view) (*set, error) {
	p := scan{Service: s, limits: s.limits, ses: ses, where: where, view: v, most: s.limits.set, brief: true}
	p.limits.probe = max(p.limits.probe, p.limits.set)
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	found, next := p.result()
	from, until := p.covered(nil)
	out := &set{matches: make([]match, len(found)), relation: IsExact, covered: Covered{from.Time(), until.Time()}}
	if next != nil {
		out.relation = IsAtLeast
	}
	for i, r := range found {
		out.matches[i] = r.match()
	}
	return out, nil
}

// bytes is what the set takes in memory, roughly.
func (s *set) bytes() int {
	const each = 200
	n := each
	for i := range s.matches {
		m := &s.matches[i]
		n += each + len(m.kind) + len(m.source) + len(m.subject)
		for _, list := range [][]string{m.tags, m.facets} {
			for _, v := range list {
				n += 16 + len(v)
			}
		}
	}
	return n
}
