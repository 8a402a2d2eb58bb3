package search

import (
	"context"
	"fmt"
	"strings"
	"time"

	"oriel/server/query"
)

// histogramQuick is how long a statement may take for the next to count more at once.
const histogramQuick = 60 * time.Millisecond

// partly counts what the database can count in time, the newest first, or else those of the set. Buckets that
// are counted are exact; the others are not covered.
func (h *histogram) partly(ctx context.Context, found *set) error {
	h.splitOf(found.matches)
	c, err := h.condition(ctx, h.ses, h.where, h.view)
	if err != nil {
		return err
	}
	first := len(h.counts)
	if c.exact {
		if first, err = h.countRows(ctx, c); err != nil {
			return err
		}
	}
	switch {
	case first == 0:
		h.answer(0, IsExact)
	case first < len(h.counts) && h.edges[first].UnixMicro() <= found.covered.From.UnixMicro():
		h.answer(first, IsAtLeast)
	default:
		return h.ofSet(found)
	}
	return nil
}

// ofSet answers what the set covers, which begins within the first bucket. Where that is less than a bucket it is in
// shorter ones, unless the interval was asked for.
func (h *histogram) ofSet(found *set) error {
	from := max(h.window.from, found.covered.From.UnixMicro())
	first := len(h.counts)
	if from < h.window.until {
		if h.edges[first-1].UnixMicro() > from { // the first of some
			first = h.bucketAt(from)
		} else {
			h.window.from = from
			if err := h.buckets(); err != nil {
				return err
			}
			first = 0
		}
		h.countMatches(found.matches)
	}
	h.answer(first, IsAtLeast)
	h.out.Total.Covered.From = found.covered.From
	return nil
}

// bucketAt is the bucket that an instant of the window lies in.
func (h *histogram) bucketAt(at int64) int {
	b := len(h.counts) - 1
	for b > 0 && h.edges[b].UnixMicro() > at {
		b--
	}
	return b
}

// countRows counts runs of buckets, the newest first, while there is time. It answers the first bucket that is
// counted.
func (h *histogram) countRows(ctx context.Context, c condition) (first int, err error) {
	deadline := time.Now().Add(h.limits.counting)
	first = len(h.counts)
	for step := 1; first > 0; {
		left := time.Until(deadline)
		if left < time.Millisecond {
			return first, nil
		}
		begin := time.Now()
		from := max(0, first-step)
		err := h.ses.try(ctx, left, h.limits.statement, func() error { return h.countRun(ctx, c, from, first) })
		switch {
		case cancelled(err):
			return first, nil
		case err != nil:
			return 0, err
		}
		first = from
		if time.Since(begin) < histogramQuick {
			step *= 4
		}
	}
	return 0, nil
}

// countRun counts the buckets [from, until).
func (h *histogram) countRun(ctx context.Context, c condition, from, until int) error {
	sql, args := h.compileRun(c, from, until)
	rows, err := h.ses.Query(ctx, sql, args...)
	if err != nil {
		return fmt.Errorf("count events by time: %w", err)
	}
	defer rows.Close()
	counts := make([]bucketCount, until-from)
	for rows.Next() {
		var b int
		var n bucketCount
		targets := []any{&b, &n.n, &n.errors}
		if h.ask.splitBy != nil {
			n.split = make([]int64, len(h.split))
			for i := range n.split {
				targets = append(targets, &n.split[i])
			}
			targets = append(targets, &n.rest)
		}
		if err := rows.Scan(targets...); err != nil {
			return fmt.Errorf("read a count: %w", err)
		}
		counts[b-1] = n
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return fmt.Errorf("count events by time: %w", err)
	}
	copy(h.counts[from:until], counts)
	return nil
}

func (h *histogram) compileRun(c condition, from, until int) (sql string, args []any) {
	s := &statement{}
	edges := h.micros()
	w := query.Window{From: query.InstantOf(h.edges[from]), Until: query.InstantOf(h.edges[until])}
	w.From.Micros, w.Until.Micros = max(w.From.Micros, h.window.from), min(w.Until.Micros, h.window.until)
	columns := "width_bucket(occurred_at, " + s.param(times(edges[from:until+1]), "timestamptz[]") +
		"), count(*), count(*) FILTER (WHERE severity >= 6)"
	if h.ask.splitBy != nil {
		var any []string
		for _, v := range h.split {
			has := s.has(*h.ask.splitBy, v)
			any = append(any, has)
			columns += ", count(*) FILTER (WHERE " + has + ")"
		}
		columns += ", count(*) FILTER (WHERE (" + strings.Join(append(any, never), " OR ") + ") IS NOT TRUE)"
	}
	return "SELECT " + columns + " FROM event WHERE " + s.span(w) + " AND " + c.sql(s) + " GROUP BY 1", s.args
}

// has is SQL for an event that has a value, as stored, of a facet field or severity.
func (s *statement) has(f query.Field, value string) string {
	switch f.Kind {
	case query.Severity:
		return "severity::text = " + s.param(value, "text")
	case query.Facet:
		if f.Name == dimensionTag {
			return "tags @> " + s.param([]string{value}, "text[]")
		}
		return "facets @> " + s.param([]string{f.Name + "=" + value}, "text[]")
	default:
		return f.Name + " = " + s.param(value, "text")
	}
}
