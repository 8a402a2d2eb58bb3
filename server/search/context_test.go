package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/fault"
)

func TestTheEventsAroundOne(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	trace := func(n byte) []byte { return slices.Repeat([]byte{n}, 16) }
	samples := make([]sample, 60) // an hour apart: over several days
	for i := range samples {
		samples[i] = sample{
			id: fmt.Sprint(i), at: noon().Add(-time.Duration(i) * time.Hour), kind: []string{"a", "b", "c"}[i%3],
			subject: []string{"", "s"}[i%2], source: []string{"/x", "/y"}[i/30], traceID: trace(byte(i % 10)),
		}
	}
	st.add(samples...)
	around := func(params ...string) *Neighbours {
		t.Helper()
		n, err := st.svc.Context(context.Background(), cloudevents.EscapeName("/x", "21"), values(params...))
		if err != nil {
			t.Fatalf("%v: %v", params, err)
		}
		return n
	}
	for _, c := range []struct {
		want   string
		params []string
	}{
		{"20 19 18|22 23 24", []string{"before", "3", "after", "3"}},
		{"19 17|23 25", []string{"by", "subject", "before", "2", "after", "2"}},
		{"20 19|22 23", []string{"by", "source", "before", "2", "after", "2"}},
		{"11 1|31 41", []string{"by", "trace", "before", "2", "after", "2"}},
		{"20 17|23 26", []string{"type", "c", "before", "2", "after", "2"}},
		{"|22", []string{"before", "1", "after", "0"}},
		{"20 19|", []string{"from", "2026-11-29T15:00:00Z", "after", "2"}},
		{"20 19|22 23", []string{"time", samples[21].at.Format(time.RFC3339), "before", "2", "after", "2"}},
	} {
		want, params := c.want, c.params
		n := around(params...)
		if got := strings.Join(ids(n.After), " ") + "|" + strings.Join(ids(n.Before), " "); got != want || n.Anchor.ID != "21" || n.Anchor.Position.Topic != "events" {
			t.Errorf("%v around %s: %s, want %s", params, n.Anchor.ID, got, want)
		}
	}
	// Pages go on to both ends, while others store.
	n := around("by", "subject", "before", "4", "after", "4")
	got := append(slices.Clone(n.After), n.Before...)
	st.add(sample{id: "new", commit: 2, subject: "s", at: noon().Add(-90 * time.Minute)})
	for token := n.AfterToken; token != ""; {
		more := around("by", "subject", "after", "4", "pageToken", token)
		if len(more.Before) != 0 {
			t.Errorf("a page of what came after has %v before", ids(more.Before))
		}
		got, token = append(got, more.After...), more.AfterToken
	}
	for token := n.BeforeToken; token != ""; {
		more := around("by", "subject", "before", "4", "pageToken", token)
		got, token = append(got, more.Before...), more.BeforeToken
	}
	all := ids(got)
	slices.Sort(all)
	if len(all) != 29 || len(slices.Compact(all)) != 29 || slices.Contains(all, "new") {
		t.Errorf("the pages have %d: %v", len(all), all)
	}
	for name, c := range map[string]struct {
		event, reason string
		params        []string
	}{
		"no such event":        {"/x:none", fault.ReasonNotFound, nil},
		"not by that":          {"%2Fx:21", fault.ReasonInvalidParameter, []string{"by", "colour"}},
		"without a subject":    {"%2Fx:20", fault.ReasonInvalidParameter, []string{"by", "subject"}},
		"too many":             {"%2Fx:21", fault.ReasonInvalidParameter, []string{"before", "101"}},
		"a stranger":           {"%2Fx:21", fault.ReasonUnknownParameter, []string{"foo", "1"}},
		"another's page token": {"%2Fx:21", fault.ReasonInvalidPageToken, []string{"by", "source", "pageToken", n.AfterToken}},
	} {
		_, err := st.svc.Context(context.Background(), strings.Replace(c.event, "/x", "%2Fx", 1), values(c.params...))
		if reasonOf(err) != c.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
}
