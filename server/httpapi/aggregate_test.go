package httpapi

import (
	"net/url"
	"testing"
	"time"

	"oriel/server/search"
)

func TestAnswersOfASearchSayWhatTheirNumbersAre(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 10, 24, 22, 0, 0, 0, time.UTC)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	covered := search.Covered{From: from, Until: from.Add(25 * time.Hour)}
	e := start(t)
	e.shelf.answers = answers{
		count: &search.Count{Value: 1 << 40, Relation: search.IsAtLeast, Covered: search.Covered{From: from}, Snapshot: "snap"},
		facets: &search.Facets{Snapshot: "snap", Facets: []search.FacetCounts{
			{Field: "type", Values: []search.FacetValue{{Value: "a", Count: 3, Errors: 1, Selected: true}, {Value: "<b>"}}, More: true, Missing: 2, Relation: search.IsSampled, Covered: covered, Sample: 10_000},
			{Field: "room", Relation: search.IsExact, Covered: covered, Sample: 7},
		}},
		histogram: &search.Histogram{
			Interval: "1h", Zone: "Europe/Berlin", SplitBy: "type", Split: []string{"a", "b"}, Snapshot: "snap",
			Total: search.Count{Value: 9, Relation: search.IsExact, Covered: covered},
			Buckets: []search.Bucket{ // the hour that comes twice
				{From: from.Add(2 * time.Hour).In(berlin), Until: from.Add(3 * time.Hour).In(berlin), Count: 4, Errors: 1, Split: []int64{1, 2}, Rest: 1},
				{From: from.Add(3 * time.Hour).In(berlin), Until: from.Add(4 * time.Hour).In(berlin), Count: 5, Split: []int64{5, 0}},
			},
		},
		fields: &search.Fields{
			Fields: []search.FieldStatistics{
				{Field: "data.n", Kinds: []string{"number", "null"}, Present: 5, Distinct: 3, DistinctIs: search.IsAtLeast, Top: []search.FacetValue{{Value: "1.0", Count: 2}}, Least: "-0", Most: "9007199254740993", FirstSeen: from, LastSeen: covered.Until},
				{Field: "ext.floor"},
			}, More: true, Sample: 6, Covered: covered, Snapshot: "snap",
		},
		suggestions: &search.Suggestions{From: 2, Until: 5, Items: []search.Suggestion{{Kind: "value", Text: "a b", Insert: `"a b"`, Detail: "type"}, {Kind: "operator", Text: "OR", Insert: "OR "}}},
		neighbours:  &search.Neighbours{Anchor: stored().Event, Before: []search.Event{stored().Event}, AfterToken: "after", Covered: covered, Snapshot: "snap"},
	}
	asked := map[string]url.Values{}
	e.shelf.asked = func(what string, params url.Values) { asked[what] = params }
	const query = "?data.a%5B%2A%5D=%22x%22&room!=b&zone=Europe/Berlin&q=a+OR+b&q="
	for path, file := range map[string]string{
		"/v1/events:count": "count.json", "/v1/events:facets": "facets.json", "/v1/events:histogram": "histogram.json",
		"/v1/events:fields": "fields.json", "/v1/events:suggest": "suggest.json", "/v1/events/urn%3Ax:1/context": "context.json",
	} {
		r := e.do(e.request("GET", path+query, reader))
		golden(t, file, indented(t, r.body, ""))
	}
	want := url.Values{"data.a[*]": {`"x"`}, "room!": {"b"}, "zone": {"Europe/Berlin"}, "q": {"a OR b", ""}}
	for _, what := range []string{"count", "facets", "histogram", "fields", "suggest", "context of urn%3Ax:1"} {
		if asked[what].Encode() != want.Encode() {
			t.Errorf("%s was asked %v, want %v", what, asked[what], want)
		}
	}
}
