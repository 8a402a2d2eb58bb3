package httpapi

import (
	"context"
	"net/url"
	"time"

	"oriel/server/search"
)

// asked is what a search is asked, and its answer in the API's form.
func asked[In, Out any](ctx context.Context, ask func(context.Context, url.Values) (*In, error), told func(*In) Out) (out Out, err error) {
	params, err := callIn(ctx).params()
	if err != nil {
		return out, err
	}
	in, err := ask(ctx, params)
	if err != nil {
		return out, err
	}
	return told(in), nil
}

// CountEvents answers how many events a filter has.
func (h *handlers) CountEvents(ctx context.Context, _ CountEventsRequestObject) (CountEventsResponseObject, error) {
	return asked(ctx, h.s.deps.Search.Count, func(n *search.Count) CountEvents200JSONResponse {
		return CountEvents200JSONResponse{Value: n.Value, Relation: Relation(n.Relation), Covered: covered(n.Covered), Snapshot: n.Snapshot}
	})
}

// GetFacets answers what values fields have.
func (h *handlers) GetFacets(ctx context.Context, _ GetFacetsRequestObject) (GetFacetsResponseObject, error) {
	return asked(ctx, h.s.deps.Search.Facets, func(f *search.Facets) GetFacets200JSONResponse {
		out := GetFacets200JSONResponse{Facets: make([]FacetCounts, len(f.Facets)), Snapshot: f.Snapshot}
		for i, c := range f.Facets {
			out.Facets[i] = FacetCounts{
				Field: c.Field, Values: facetValues(c.Values), More: c.More, Missing: c.Missing,
				Relation: Relation(c.Relation), Covered: covered(c.Covered),
			}
			if c.Relation == search.IsSampled {
				out.Facets[i].Sample = &c.Sample
			}
		}
		return out
	})
}

func facetValues(values []search.FacetValue) []FacetValue {
	out := make([]FacetValue, len(values))
	for i, v := range values {
		out[i] = FacetValue{Value: v.Value, Count: v.Count, Errors: v.Errors, Selected: v.Selected}
	}
	return out
}

// GetHistogram answers counts over time.
func (h *handlers) GetHistogram(ctx context.Context, _ GetHistogramRequestObject) (GetHistogramResponseObject, error) {
	return asked(ctx, h.s.deps.Search.Histogram, func(g *search.Histogram) GetHistogram200JSONResponse {
		out := GetHistogram200JSONResponse{
			Buckets: make([]Bucket, len(g.Buckets)), Interval: g.Interval, Zone: g.Zone, Snapshot: g.Snapshot,
			Total: Count{Value: g.Total.Value, Relation: Relation(g.Total.Relation), Covered: covered(g.Total.Covered)},
		}
		if g.SplitBy != "" {
			out.SplitBy, out.Split = &g.SplitBy, &g.Split
			if g.Split == nil {
				out.Split = &[]string{}
			}
		}
		for i, b := range g.Buckets {
			out.Buckets[i] = Bucket{From: zoned(b.From), Until: zoned(b.Until), Count: b.Count, Errors: b.Errors}
			if g.SplitBy != "" {
				split := append([]int64{}, b.Split...)
				out.Buckets[i].Split, out.Buckets[i].Rest = &split, &b.Rest
			}
		}
		return out
	})
}

// ListFields answers what fields events have.
func (h *handlers) ListFields(ctx context.Context, _ ListFieldsRequestObject) (ListFieldsResponseObject, error) {
	return asked(ctx, h.s.deps.Search.Fields, func(f *search.Fields) ListFields200JSONResponse {
		out := ListFields200JSONResponse{
			Fields: make([]FieldStatistics, len(f.Fields)), More: f.More, Sample: f.Sample, Covered: covered(f.Covered), Snapshot: f.Snapshot,
		}
		for i, s := range f.Fields {
			kinds := make([]FieldStatisticsKinds, len(s.Kinds))
			for j, k := range s.Kinds {
				kinds[j] = FieldStatisticsKinds(k)
			}
			out.Fields[i] = FieldStatistics{
				Field: s.Field, Kinds: kinds, Present: s.Present, Distinct: s.Distinct, DistinctRelation: Relation(s.DistinctIs),
				Top: facetValues(s.Top), Least: some(s.Least), Most: some(s.Most), FirstSeen: open(s.FirstSeen), LastSeen: open(s.LastSeen),
			}
		}
		return out
	})
}

// Suggest answers what may stand at a place of a query.
func (h *handlers) Suggest(ctx context.Context, _ SuggestRequestObject) (SuggestResponseObject, error) {
	return asked(ctx, h.s.deps.Search.Suggest, func(s *search.Suggestions) Suggest200JSONResponse {
		out := Suggest200JSONResponse{From: int32(s.From), Until: int32(s.Until), Suggestions: make([]Suggestion, len(s.Items))}
		for i, item := range s.Items {
			out.Suggestions[i] = Suggestion{Kind: SuggestionKind(item.Kind), Text: item.Text, Insert: item.Insert, Detail: some(item.Detail)}
		}
		return out
	})
}

// GetEventContext answers the events around one.
func (h *handlers) GetEventContext(ctx context.Context, req GetEventContextRequestObject) (GetEventContextResponseObject, error) {
	ask := func(ctx context.Context, params url.Values) (*search.Neighbours, error) {
		return h.s.deps.Search.Context(ctx, req.Event, params)
	}
	return asked(ctx, ask, func(n *search.Neighbours) GetEventContext200JSONResponse {
		return GetEventContext200JSONResponse{
			Anchor: listed(&n.Anchor), Before: listedAll(n.Before), After: listedAll(n.After),
			BeforeToken: some(n.BeforeToken), AfterToken: some(n.AfterToken), Covered: covered(n.Covered), Snapshot: n.Snapshot,
		}
	})
}

func listedAll(events []search.Event) []Event {
	out := make([]Event, len(events))
	for i := range events {
		out[i] = listed(&events[i])
	}
	return out
}

func covered(c search.Covered) Covered { return Covered{From: instant(c.From), Until: open(c.Until)} }

// zoned is an instant with the offset of its zone at that moment.
func zoned(t time.Time) string { return t.Format("2006-01-02T15:04:05.000000Z07:00") }
