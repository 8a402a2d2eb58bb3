package search

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"oriel/server/query"
)

// Facets answers GET /v1/events:facets: field (repeatable; all by default), limit (1 to 100, 10 by default),
// contains (looks for values, of one field).
func (s *Service) Facets(ctx context.Context, params url.Values) (*Facets, error) {
	d := newDecoder(params)
	req := s.search(d, "field", "limit", "contains")
	s.ordered(d)
	ask := facetsAsk{limit: d.number("limit", 1, maxFacetValues, defaultFacetValues), contains: d.Single("contains")}
	for _, name := range d.Values("field") {
		if f, ok := s.facetField(d, "field", name); ok && !slices.Contains(ask.fields, f) {
			ask.fields = append(ask.fields, f)
		}
	}
	if len(d.Params["field"]) == 0 {
		ask.fields = s.facetFields()
	}
	if ask.contains != "" && len(ask.fields) > 1 {
		d.Invalid("contains", ask.contains, "contains with one field", "The parameter contains looks for values of one field, and "+
			strconv.Itoa(len(ask.fields))+" are asked for.")
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	words, _ := query.Decode(s.schema, url.Values{"q": params["q"]}, nil, "") // it could be read above
	var out *Facets
	err := s.run(ctx, "facets", req.frozen.seen(), func(ctx context.Context, ses *session) error {
		v, err := s.viewOf(ctx, ses, &req)
		if err != nil {
			return err
		}
		c := facetCounter{Service: s, ses: ses, view: v, ask: ask}
		counts, err := c.run(ctx, req.filter.Where, words.Where)
		out = &Facets{Facets: counts, Snapshot: v.token()}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// facetFields is every field that events are counted by.
func (s *Service) facetFields() []query.Field {
	out := []query.Field{
		{Kind: query.Attribute, Name: "type"},
		{Kind: query.Attribute, Name: "source"},
		{Kind: query.Severity},
		{Kind: query.Attribute, Name: "subject"},
	}
	for _, name := range s.schema.Facets {
		out = append(out, query.Field{Kind: query.Facet, Name: name})
	}
	return out
}

// facetField reads the name of a field that events can be counted by.
func (s *Service) facetField(d *decoder, parameter, name string) (query.Field, bool) {
	f, err := query.FieldOf(s.schema, name)
	if err == nil && facetable(f) {
		return f, true
	}
	var accepted []string
	for _, f := range s.facetFields() {
		accepted = append(accepted, f.String())
	}
	d.Invalid(parameter, name, strings.Join(accepted, ", "), "Events cannot be counted by "+query.Quote(name)+".")
	return query.Field{}, false
}

// Histogram answers GET /v1/events:histogram: zone (IANA name, UTC by default), buckets (1 to 120, 60 by
// default), interval (one of Histogram.Interval; chosen by default), splitBy (a facet field or severity).
func (s *Service) Histogram(ctx context.Context, params url.Values) (*Histogram, error) {
	d := newDecoder(params)
	req := s.search(d, "zone", "buckets", "interval", "splitBy")
	s.ordered(d)
	ask := histogramAsk{zone: d.zone(), interval: d.interval(), buckets: d.number("buckets", 1, maxBuckets, defaultBuckets)}
	if name := d.Single("splitBy"); name != "" {
		if f, ok := s.facetField(d, "splitBy", name); ok {
			ask.splitBy = &f
		}
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	h := histogram{Service: s, where: req.filter.Where, ask: ask}
	err := s.run(ctx, "histogram", req.frozen.seen(), func(ctx context.Context, ses *session) (err error) {
		h.ses = ses
		if h.view, err = s.viewOf(ctx, ses, &req); err != nil {
			return err
		}
		return h.run(ctx)
	})
	if errors.Is(err, errTooManyBuckets) && ask.interval == nil {
		d.Invalid("from", params.Get("from"), strconv.Itoa(maxBuckets)+" months at most", "The time range has more than "+strconv.Itoa(maxBuckets)+" months.")
		return nil, d.err()
	}
	if errors.Is(err, errTooManyBuckets) {
		d.Invalid("interval", params.Get("interval"), "an interval of which the time range has at most "+strconv.Itoa(maxBuckets),
			"The time range has more than "+strconv.Itoa(maxBuckets)+" buckets of "+params.Get("interval")+".")
		return nil, d.err()
	}
	if err != nil {
		return nil, err
	}
	return h.out, nil
}

// zone is the time zone asked for.
func (d *decoder) zone() *time.Location {
	name := d.Single("zone")
	if name == "" {
		return time.UTC
	}
	loc, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // which is the server's
		d.Invalid("zone", name, "the name of an IANA time zone, such as Europe/Berlin", "There is no time zone "+query.Quote(name)+".")
		return time.UTC
	}
	return loc
}

// interval is the one asked for; nil where none is.
func (d *decoder) interval() *interval {
	name := d.Single("interval")
	if name == "" {
		return nil
	}
	names := make([]string, 0, len(ladder()))
	for _, iv := range ladder() {
		if iv.name == name {
			return &iv
		}
		names = append(names, iv.name)
	}
	d.Invalid("interval", name, strings.Join(names, ", "), "There is no interval "+query.Quote(name)+".")
	return nil
}

// Fields answers GET /v1/events:fields: contains (part of the name), field (statistics of one), limit.
func (s *Service) Fields(ctx context.Context, params url.Values) (*Fields, error) {
	d := newDecoder(params)
	req := s.search(d, "contains", "field", "limit")
	s.ordered(d)
	ask := fieldsAsk{contains: d.Single("contains"), limit: d.number("limit", 1, maxFields, defaultFields)}
	if name := d.Single("field"); name != "" {
		f, err := query.FieldOf(s.schema, name)
		if err != nil {
			d.Invalid("field", name, "a field of the query language", "There is no field "+query.Quote(name)+": "+err.Error()+".")
		}
		ask.field = &f
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	var out *Fields
	err := s.run(ctx, "fields", req.frozen.seen(), func(ctx context.Context, ses *session) error {
		v, err := s.viewOf(ctx, ses, &req)
		if err != nil {
			return err
		}
		out, err = s.fieldList(ctx, ses, req.filter.Where, v, ask)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
