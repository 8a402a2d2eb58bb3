package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"oriel/server/db"
	"oriel/server/fault"
	"oriel/server/query"
)

// dimensionOf is the dimension of a field; "" where there is none. Of facets it is for the session to say whether
// rollups hold it.
func dimensionOf(f query.Field) string {
	switch {
	case f.Kind == query.Severity:
		return dimensionSeverity
	case f.Kind == query.Attribute && (f.Name == dimensionType || f.Name == dimensionSource):
		return f.Name
	case f.Kind == query.Facet:
		return f.Name
	default:
		return ""
	}
}

// single says whether every event has one value of the dimension.
func single(dimension string) bool {
	return dimension == dimensionSeverity || dimension == dimensionType || dimension == dimensionSource
}

// rolled is a filter that rollups answer: nothing, or values of one dimension, or all but those; errors alone,
// or all of them.
type rolled struct {
	dimension string // "" is any event
	values    []string
	without   bool
	errors    bool
}

// rolledBy finds the filter that rollups answer, if where is one.
func rolledBy(where query.And) (rolled, bool) {
	var r rolled
	ranks := make([]bool, 9) // which severities fulfil all conditions on it
	for i := range ranks {
		ranks[i] = true
	}
	for _, n := range where {
		if ofSeverity(n) {
			for i := range ranks {
				ranks[i] = ranks[i] && severityFulfils(n, int16(i))
			}
			continue
		}
		dimension, values, without, ok := rolledNode(n)
		if !ok || r.dimension != "" {
			return rolled{}, false
		}
		r.dimension, r.values, r.without = dimension, values, without
	}
	switch {
	case !slices.Contains(ranks, false):
		return r, true
	case r.dimension == "":
		r.dimension, r.values = dimensionSeverity, []string{}
		for i, ok := range ranks {
			if ok {
				r.values = append(r.values, strconv.Itoa(i))
			}
		}
		return r, true
	}
	for i, ok := range ranks {
		if ok != (i >= errorRank) {
			return rolled{}, false
		}
	}
	r.errors = true
	return r, true
}

// rolledNode reads a condition on one dimension other than severity.
func rolledNode(n query.Node) (dimension string, values []string, without, ok bool) {
	if not, is := n.(query.Not); is {
		dimension, values, without, ok = rolledNode(not.Of)
		return dimension, values, !without, ok && single(dimension)
	}
	alternatives, is := n.(query.Or)
	if !is {
		alternatives = query.Or{n}
	}
	for _, a := range alternatives {
		e, is := a.(query.Equal)
		if !is {
			return "", nil, false, false
		}
		d := dimensionOf(e.Field)
		if d == "" || d == dimensionSeverity || dimension != "" && d != dimension || !storable(e.Value) {
			return "", nil, false, false
		}
		dimension, values = d, append(values, e.Value)
	}
	return dimension, values, false, len(values) > 0
}

// ofSeverity says whether a condition is on the severity alone.
func ofSeverity(n query.Node) bool {
	alone := true
	query.Walk(n, func(n query.Node) {
		switch n := n.(type) {
		case query.And, query.Or, query.Not:
		case query.Equal:
			alone = alone && n.Field.Kind == query.Severity
		case query.Compare:
			alone = alone && n.Field.Kind == query.Severity
		case query.Exists:
			alone = alone && n.Field.Kind == query.Severity
		default:
			alone = false
		}
	})
	return alone
}

// severityFulfils judges a condition on severity for a rank, 0 for none.
func severityFulfils(n query.Node, rank int16) bool {
	c := query.Candidate{Severity: rank}
	return query.NewVerifier(n).Match(&c)
}

// sums is a number of events and how many of them are errors.
type sums struct{ n, errors int64 }

// errRollupOverlap says that events have several of the values, so that their sum is not their number.
var errRollupOverlap = errors.New("events have several of the values")

// rolledIn finds the filter that rollups answer in a view: they do not know what arrived when.
func (ses *session) rolledIn(ctx context.Context, v *view, where query.And) (f rolled, ok bool, err error) {
	if f, ok = rolledBy(where); !ok || v.arrivedOnly {
		return rolled{}, false, nil
	}
	ok, err = ses.counted(ctx, f.dimension)
	return f, ok, err
}

// counted says whether rollups hold all events that have the dimension; "" is any event. Of a facet they do where
// no configuration by which events were ever derived has it uncounted: what an event counts under never changes.
func (ses *session) counted(ctx context.Context, dimension string) (bool, error) {
	if dimension == "" || dimension == dimensionTag || single(dimension) {
		return true, nil
	}
	if ses.uncounted == nil {
		names, err := db.New(ses.prepared()).UncountedFacets(ctx)
		if err != nil {
			return false, fmt.Errorf("read which facets are in no rollup: %w", err)
		}
		ses.uncounted = append([]string{}, names...)
	}
	return !slices.Contains(ses.uncounted, dimension), nil
}

// rolledView asks for a view.
func (s *Service) rolledView(v *view) *rollupRead {
	return &rollupRead{window: v.span(), now: v.made.Micros, vector: v.upper}
}

// span is the window, no older than the oldest day that there is: rollups may outlive their events.
func (v *view) span() run {
	r := run{v.window.From.Micros, forever}
	if v.window.Until.Given {
		r.until = v.window.Until.Micros
	}
	if v.oldest.Given {
		r.from = min(max(r.from, v.oldest.Micros), r.until)
	}
	return r
}

// rolledCounts counts the events of a filter by bucket, from 1; all is the one bucket where there are no edges.
func rolledCounts(ctx context.Context, ses *session, q rollupRead, f rolled) (map[int]sums, error) {
	q.dimensions, q.values = []string{dimensionSeverity}, nil
	if f.dimension != "" {
		q.dimensions, q.values = []string{f.dimension}, f.values
	}
	overlap := !single(q.dimensions[0]) && len(f.values) > 1
	if f.without || overlap {
		q.values = nil // the others are summed, or compared with how many there are
	}
	rows, err := readRollups(ctx, ses, &q)
	if err != nil {
		return nil, err
	}
	if overlap && overlapping(rows) {
		return nil, errRollupOverlap
	}
	out := map[int]sums{}
	for _, r := range rows {
		if f.dimension != "" && slices.Contains(f.values, r.value) == f.without {
			continue
		}
		if f.errors {
			r.n = r.errors
		}
		c := out[r.bucket]
		out[r.bucket] = sums{c.n + r.n, c.errors + r.errors}
	}
	return out, nil
}

// overlapping says whether any event has two values of a dimension: then they are more than the events.
func overlapping(rows []rollupRow) bool {
	more := map[int]int64{}
	for _, r := range rows {
		if r.value == "" {
			more[r.bucket] -= r.n
		} else {
			more[r.bucket] += r.n
		}
	}
	for _, n := range more {
		if n != 0 {
			return true
		}
	}
	return false
}

// rolledUp counts the events of a filter by the rollups. ok is false where they cannot tell.
func (s *Service) rolledUp(ctx context.Context, ses *session, where query.And, v *view) (n int64, ok bool, err error) {
	f, ok, err := ses.rolledIn(ctx, v, where)
	if !ok {
		return 0, false, err
	}
	counts, err := rolledCounts(ctx, ses, *s.rolledView(v), f)
	if ok, err := servedByRollups(v, err); !ok {
		return 0, false, err
	}
	return counts[1].n, true, nil
}

// servedByRollups tells a refusal of the reader from a failure: where rollups cannot tell, others may.
func servedByRollups(v *view, err error) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, errRollupBehind), errors.Is(err, errRollupOverlap), v.arrived.Until.Given && errors.Is(err, errRollupDelta):
		return false, nil
	case errors.Is(err, errRollupDelta):
		return false, fault.New(fault.Expired, fault.ReasonSnapshotTooOld,
			fmt.Sprintf("More than %d events were stored since the snapshot. Search again for what is there now.", rollupDelta),
			"limit", strconv.Itoa(rollupDelta))
	default:
		return false, err
	}
}
