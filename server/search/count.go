package search

import (
	"context"
	"fmt"
	"net/url"

	"oriel/server/fault"
	"oriel/server/query"
)

// Count counts the events of a filter; params are the raw query parameters of GET /v1/events:count. With
// newerThan=<snapshot> it counts those that were stored since that snapshot, within its bounds.
func (s *Service) Count(ctx context.Context, params url.Values) (*Count, error) {
	d := newDecoder(params)
	r := s.search(d, "newerThan")
	base := s.newerThan(d, &r)
	if r.frozen == nil && base == nil {
		s.ordered(d)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	after := r.frozen.seen()
	if base != nil {
		after = base.seen()
	}
	var out *Count
	err := s.run(ctx, "count", after, func(ctx context.Context, ses *session) (err error) {
		var v *view
		if base != nil {
			v, err = s.since(ctx, ses, base)
		} else {
			v, err = s.viewOf(ctx, ses, &r)
		}
		if err == nil {
			out, err = s.count(ctx, ses, r.filter.Where, v)
		}
		return err
	})
	return out, err
}

// newerThan reads the snapshot whose newer events are asked for.
func (s *Service) newerThan(d *decoder, r *request) *view {
	token := d.Single("newerThan")
	if token == "" {
		return nil
	}
	const accepted = "the snapshot of an answer, alone"
	v, err := parseSnapshot(token)
	switch {
	case err != nil:
		d.Invalid("newerThan", token, accepted, "The snapshot in newerThan is no token of ours.")
	case r.frozen != nil:
		d.Invalid("newerThan", token, accepted, "What is newer than one snapshot is not asked of another one.")
	default:
		for _, name := range v.differs(d.bounds()) {
			d.Violations = append(d.Violations, fault.Violation{
				Reason:   fault.ReasonInvalidParameter,
				Message:  "The parameter " + name + " differs from the one of the snapshot in newerThan. Leave it out.",
				Metadata: fault.Pairs("attribute", name, "accepted", "what the snapshot was made with"),
			})
		}
		return v
	}
	return nil
}

// since is the view of what was stored after another one, within its bounds.
func (s *Service) since(ctx context.Context, ses *session, base *view) (*view, error) {
	if err := s.check(ctx, ses, base); err != nil {
		return nil, err
	}
	v := *base
	var err error
	if v.upper, err = storeVector(ctx, ses.prepared()); err != nil {
		return nil, err
	}
	if v.arrived.Until.Given {
		before, err := commitsBefore(ctx, ses, v.arrived.Until)
		if err != nil {
			return nil, err
		}
		v.upper = v.upper.atMost(before)
	}
	v.made, v.lower, v.arrivedOnly = query.InstantOf(s.now()), base.upper, true
	return &v, nil
}

// count is exact where the rollups have the answer, where the set is everything, or where SQL alone can tell in
// its time; else it is as much as the set has.
func (s *Service) count(ctx context.Context, ses *session, where query.And, v *view) (*Count, error) {
	out := &Count{Relation: IsExact, Covered: Covered{v.window.From.Time(), v.window.Until.Time()}, Snapshot: v.token()}
	n, ok, err := s.rolledUp(ctx, ses, where, v)
	if err != nil || ok {
		out.Value = n
		return out, err
	}
	found, err := s.set(ctx, ses, where, v)
	if err != nil {
		return nil, err
	}
	out.Value = int64(len(found.matches))
	if found.relation == IsExact {
		return out, nil
	}
	if s.countable(ses, v, found) {
		n, ok, err = s.counted(ctx, ses, where, v)
	}
	if err != nil {
		return nil, err
	}
	if ok {
		out.Value = n
		return out, nil
	}
	out.Relation, out.Covered = IsAtLeast, found.covered
	return out, nil
}

// countable says whether counting by SQL may end in its time, judging by how far the set reaches.
func (s *Service) countable(ses *session, v *view, found *set) bool {
	days := (&scan{ses: ses, view: v}).daysLeft(v.window)
	if len(days) == 0 || len(found.matches) == 0 {
		return true
	}
	all := days[0].Until.Micros - days[len(days)-1].From.Micros
	looked := days[0].Until.Micros - max(days[len(days)-1].From.Micros, query.InstantOf(found.covered.From).Micros)
	return looked > 0 && int64(len(found.matches))*(all/looked) <= int64(s.limits.countRows)
}

// counted counts by SQL, where that is exact and takes no longer than its limit.
func (s *Service) counted(ctx context.Context, ses *session, where query.And, v *view) (n int64, ok bool, err error) {
	c, err := s.condition(ctx, ses, where, v)
	if err != nil || !c.exact {
		return 0, false, err
	}
	st := &statement{}
	sql := "SELECT count(*) FROM event WHERE " + st.span(v.window) + " AND " + c.sql(st)
	err = ses.try(ctx, s.limits.counting, s.limits.statement, func() error {
		if err := ses.QueryRow(ctx, sql, st.args...).Scan(&n); err != nil {
			return fmt.Errorf("count events: %w", err)
		}
		return nil
	})
	if cancelled(err) {
		return 0, false, nil
	}
	return n, err == nil, err
}
