package search

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"oriel/server/query"
	"oriel/server/search/reference"
)

func (a *inquiry) count(ctx context.Context) string {
	c, err := a.svc.Count(ctx, a.params())
	if err != nil {
		if declined(err) {
			return ""
		}
		return fmt.Sprintf("count: %v", err)
	}
	return a.honest("count", c, a.truth())
}

// honest says what is wrong with a number, beside all events that it could count.
func (a *inquiry) honest(what string, c *Count, truth []*reference.Event) string {
	from, until := c.Covered.From.UnixMicro(), c.Covered.Until.UnixMicro()
	if c.Covered.Until.IsZero() {
		until = a.window.Until
	}
	within := reference.Between(truth, from, until).Count
	switch {
	case from < a.window.From || until > a.window.Until:
		return fmt.Sprintf("%s: it covers %v of a window from %s to %s", what, c.Covered, stamp(a.window.From), stamp(a.window.Until))
	case c.Relation == IsExact && c.Value != within:
		return fmt.Sprintf("%s: exactly %d instead of %d", what, c.Value, within)
	case c.Relation == IsExact && (from > a.window.From || until < a.window.Until):
		return fmt.Sprintf("%s: exact, of only %v", what, c.Covered)
	case c.Relation == IsAtLeast && c.Value != within:
		return fmt.Sprintf("%s: at least %d from %s on, where %d are", what, c.Value, c.Covered.From, within)
	case c.Relation != IsExact && c.Relation != IsAtLeast:
		return fmt.Sprintf("%s: it is %q", what, c.Relation)
	case a.svc == a.w.wide && c.Relation != IsExact:
		return fmt.Sprintf("%s: %s %d of %d events", what, c.Relation, c.Value, len(truth))
	}
	return ""
}

// facetFields is what facets are asked of.
func facetFields() []string {
	return []string{"type", "source", "subject", "severity", "device", "room", "person", "tag"}
}

func fieldOf(name string) query.Field {
	switch name {
	case "severity":
		return query.Field{Kind: query.Severity}
	case "type", "source", "subject":
		return query.Field{Kind: query.Attribute, Name: name}
	default:
		return query.Field{Kind: query.Facet, Name: name}
	}
}

func (a *inquiry) facets(ctx context.Context) string {
	names := facetFields()
	first, limit := a.choose("field", len(names)), []int{1, 2, 5, 100}[a.choose("limit", 4)]
	names = []string{names[first], names[(first+1+a.choose("next", 7))%8]}
	f, err := a.svc.Facets(ctx, a.params("field", names[0], "field", names[1], "limit", strconv.Itoa(limit)))
	if err != nil {
		if declined(err) {
			return ""
		}
		return fmt.Sprintf("facets: %v", err)
	}
	if len(f.Facets) != len(names) {
		return fmt.Sprintf("facets of %q: %d answers", names, len(f.Facets))
	}
	for i := range f.Facets {
		if !slices.Contains(names, f.Facets[i].Field) {
			return fmt.Sprintf("facets of %q: one of %q", names, f.Facets[i].Field)
		}
		if p := a.facet(&f.Facets[i], limit); p != "" {
			return fmt.Sprintf("facets of %s, limit %d: %s", f.Facets[i].Field, limit, p)
		}
	}
	return ""
}

// counting is what a facet counts over: all but what its own parameters say. Of tags an event must have all.
func (a *inquiry) counting(where query.And, field query.Field) query.And {
	if field.String() == "tag" {
		return where
	}
	out := reference.Others(where, field)
	params := a.params()
	asked, _ := query.Decode(a.svc.schema, url.Values{"q": params["q"]}, nil, "")
	for _, n := range asked.Where {
		if len(reference.Others(query.And{n}, field)) == 0 {
			out = append(out, n)
		}
	}
	return out
}

func (a *inquiry) facet(got *FacetCounts, limit int) string {
	field := fieldOf(got.Field)
	where, ok := query.Normalise(a.where).(query.And)
	if !ok {
		where = query.And{query.Normalise(a.where)}
	}
	truth := reference.Search(a.w.events, a.counting(where, field), a.window)
	switch {
	case got.Relation == IsSampled:
		// All there are, or some of one microsecond that has more than a set.
		from := got.Covered.From.UnixMicro()
		surely := len(reference.Search(truth, nil, reference.Window{From: from, Until: a.window.Until}))
		if got.Sample != int64(surely) && (got.Sample < 1 || got.Sample > int64(surely) || truth[0].Micros != from) {
			return fmt.Sprintf("a sample of %d of %d events from %s on", got.Sample, surely, got.Covered.From)
		}
		truth = truth[:got.Sample]
	case got.Relation != IsExact:
		return fmt.Sprintf("it is %q", got.Relation)
	case !got.Covered.From.Equal(time.UnixMicro(a.window.From)):
		return fmt.Sprintf("exact, of only %v", got.Covered)
	}
	if a.svc == a.w.wide && got.Relation != IsExact {
		return fmt.Sprintf("%s of %d events", got.Relation, len(truth))
	}
	want, missing := reference.Facet(truth, field)
	if got.Missing != missing {
		return fmt.Sprintf("%d events without it instead of %d (%s, %d in all)", got.Missing, missing, got.Relation, len(truth))
	}
	selected := query.Selected(where, field)
	var all []string
	for v := range want {
		all = append(all, v)
	}
	order := func(x, y string) int {
		ranks := 0
		if got.Field == "severity" {
			ranks = slices.Index(reference.Ranks(), x) - slices.Index(reference.Ranks(), y)
		}
		return cmp.Or(cmp.Compare(want[y].Count, want[x].Count), ranks, strings.Compare(x, y))
	}
	slices.SortFunc(all, order)
	expected := slices.Clone(all[:min(limit, len(all))])
	for _, v := range selected {
		if !slices.Contains(expected, v) {
			expected = append(expected, v)
		}
	}
	slices.SortFunc(expected, order)
	var shown []string
	for _, v := range got.Values {
		shown = append(shown, v.Value)
		if t := want[v.Value]; t.Count != v.Count || t.Errors != v.Errors {
			return fmt.Sprintf("%q has %d events, %d errors, instead of %d and %d (%s)", v.Value, v.Count, v.Errors, t.Count, t.Errors, got.Relation)
		}
		if v.Selected != slices.Contains(selected, v.Value) {
			return fmt.Sprintf("%q is selected: %t", v.Value, v.Selected)
		}
	}
	if !slices.Equal(shown, expected) {
		return fmt.Sprintf("%q instead of %q", shown, expected)
	}
	if len(selected) == 0 && got.More != (len(all) > limit) {
		return fmt.Sprintf("there is more: %t, of %d values", got.More, len(all))
	}
	return ""
}

func (a *inquiry) histogram(ctx context.Context) string {
	zone := []string{"", "Europe/Berlin", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Cairo"}[a.choose("zone", 7)]
	split := []string{"", "", "", "severity", "type", "room", "tag"}[a.choose("split", 7)]
	buckets := []string{"", "1", "5", "24", "120"}[a.choose("buckets", 5)]
	h, err := a.svc.Histogram(ctx, a.params("zone", zone, "splitBy", split, "buckets", buckets))
	if err != nil {
		if declined(err) {
			return ""
		}
		return fmt.Sprintf("histogram: %v", err)
	}
	if p := a.buckets(h, split); p != "" {
		return fmt.Sprintf("histogram in zone %q by %q of %s buckets at most, of %s: %s", zone, split, buckets, h.Interval, p)
	}
	return ""
}

func (a *inquiry) buckets(h *Histogram, split string) string {
	truth := a.truth()
	location, err := time.LoadLocation(h.Zone)
	if err != nil {
		return err.Error()
	}
	if len(h.Buckets) > 120 {
		return fmt.Sprintf("%d buckets", len(h.Buckets))
	}
	if p := a.honest("total", &h.Total, truth); p != "" {
		return p
	}
	from, until := h.Total.Covered.From.UnixMicro(), h.Total.Covered.Until.UnixMicro()
	var sum int64
	for i, b := range h.Buckets {
		begin, end := b.From.UnixMicro(), b.Until.UnixMicro()
		unit := reference.Unit(begin, h.Interval, location)
		switch {
		case i > 0 && !h.Buckets[i-1].Until.Equal(b.From):
			return fmt.Sprintf("a gap before %s", b.From)
		case begin >= end:
			return fmt.Sprintf("a bucket from %s to %s", b.From, b.Until)
		case i > 0 && reference.Unit(begin-1, h.Interval, location) == unit:
			return fmt.Sprintf("%s begins within a unit", b.From)
		case reference.Unit(end-1, h.Interval, location) != unit && h.Interval[len(h.Interval)-1] != 'h':
			return fmt.Sprintf("the bucket from %s to %s is of more than a unit", b.From, b.Until)
		}
		in := func(events []*reference.Event) reference.Tally {
			return reference.Between(events, max(begin, from), min(end, until))
		}
		want := in(truth)
		if b.Count != want.Count || b.Errors != want.Errors {
			return fmt.Sprintf("the bucket from %s has %d events, %d errors, instead of %d and %d", b.From, b.Count, b.Errors, want.Count, want.Errors)
		}
		sum += b.Count
		if p := parts(&b, h, split, truth, in); p != "" {
			return p
		}
	}
	if sum != h.Total.Value {
		return fmt.Sprintf("the buckets sum up to %d, and the total is %d", sum, h.Total.Value)
	}
	if n := len(h.Buckets); n > 0 && (h.Buckets[0].From.UnixMicro() > from || h.Buckets[n-1].Until.UnixMicro() < until) {
		return fmt.Sprintf("the buckets from %s to %s cover less than %v", h.Buckets[0].From, h.Buckets[n-1].Until, h.Total.Covered)
	}
	return ""
}

// parts compares how a bucket is split.
func parts(b *Bucket, h *Histogram, split string, truth []*reference.Event, in func([]*reference.Event) reference.Tally) string {
	if split == "" {
		return ""
	}
	if len(b.Split) != len(h.Split) {
		return fmt.Sprintf("the bucket from %s has %d parts of %d", b.From, len(b.Split), len(h.Split))
	}
	field, rest := fieldOf(split), in(truth).Count
	for i, v := range h.Split {
		has := slices.DeleteFunc(slices.Clone(truth), func(e *reference.Event) bool {
			values, _ := reference.Facet([]*reference.Event{e}, field)
			_, ok := values[v]
			return !ok
		})
		if n := in(has).Count; n != b.Split[i] {
			return fmt.Sprintf("the bucket from %s has %d events of %q instead of %d", b.From, b.Split[i], v, n)
		}
		rest -= b.Split[i]
	}
	if split != "tag" && split != "room" && rest != b.Rest {
		return fmt.Sprintf("the bucket from %s has %d others instead of %d", b.From, b.Rest, rest)
	}
	return ""
}
