package reference_test

import (
	"encoding/hex"
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/query"
	"oriel/server/search/reference"
	"oriel/server/search/reference/draw"
)

var long = flag.Bool("long", false, "the nightly form: every character, and many more events and conditions")

// candidate is an event as the consumer stores it.
func candidate(e *cloudevents.Event, ref *reference.Event) *query.Candidate {
	c := &query.Candidate{
		Source: e.Source, ID: e.ID, Type: e.Type, Subject: e.Subject, ContentType: e.DataContentType, DataSchema: e.DataSchema,
		Severity: int16(ref.Severity), Flags: cloudevents.ModeFlags(e.Mode), Tags: ref.Tags, Data: e.Data,
	}
	if e.DataContentType == "" {
		c.Flags |= cloudevents.FlagContentTypeAbsent
	}
	for _, x := range e.Extensions {
		c.Attributes = append(c.Attributes, x.Name, []string{"string", "boolean", "integer"}[x.Type], x.Value)
	}
	for _, name := range []string{"device", "person", "room"} {
		for _, v := range ref.Facets[name] {
			c.Facets = append(c.Facets, name+"="+v)
		}
	}
	if id, err := hex.DecodeString(ref.TraceID); err == nil && len(id) > 0 {
		c.TraceID = id
	}
	return c
}

func describe(e *cloudevents.Event) string {
	return fmt.Sprintf("%s %s type %q subject %q content type %q mode %d extensions %q data %q", e.Source, e.ID, e.Type, e.Subject, e.DataContentType, e.Mode, e.Extensions, e.Data)
}

// world is the events of one seed, as both judges take them.
type world struct {
	draw   *draw.Draw
	events []*cloudevents.Event
	refs   []*reference.Event
	cands  []*query.Candidate
}

func newWorld(seed uint64, n int) *world {
	w := &world{draw: draw.New(seed, time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC))}
	for i := range n {
		e := w.draw.Event()
		if i == 0 && seed%16 == 0 {
			e = w.draw.Huge()
		}
		ref := reference.New(e, nil, reference.DefaultFacets())
		w.events, w.refs, w.cands = append(w.events, e), append(w.refs, ref), append(w.cands, candidate(e, ref))
	}
	return w
}

// disagree is the index of an event that the judges differ on, or -1.
func (w *world) disagree(where query.And) int {
	v := query.NewVerifier(where)
	for i, c := range w.cands {
		if v.Match(c) != w.refs[i].Holds(where) {
			return i
		}
	}
	return -1
}

func TestTheVerifierJudgesAsTheReferenceDoes(t *testing.T) {
	t.Parallel()
	worlds := 60
	if *long {
		worlds = 1500
	}
	pairs, held := 0, 0
	for seed := range uint64(worlds) {
		w := newWorld(seed, 12)
		for range 100 {
			where := w.draw.Where(w.refs)
			pairs++
			if slices.ContainsFunc(w.refs, func(e *reference.Event) bool { return e.Holds(where) }) {
				held++
			}
			if w.disagree(where) < 0 {
				continue
			}
			small := draw.Shrink(where, func(where query.And) bool { return w.disagree(where) >= 0 })
			e := w.events[w.disagree(small)]
			t.Fatalf("seed %d: %#v\nof %s:\nthe reference says %t\nfound with %s", seed, small, describe(e), w.refs[w.disagree(small)].Holds(small), query.Format(where))
		}
	}
	if held < pairs/5 || held == pairs {
		t.Errorf("of %d conditions %d hold for some event: the draw proves little", pairs, held)
	}
}

func TestEveryConditionCanBeWrittenAndReadAgain(t *testing.T) {
	t.Parallel()
	worlds := 40
	if *long {
		worlds = 1000
	}
	schema := query.Schema{Facets: draw.Facets()}
	for seed := range uint64(worlds) {
		w := newWorld(seed+1e6, 12)
		for range 100 {
			where := w.draw.Where(w.refs)
			if problem := rewritten(schema, w, where); problem != "" {
				small := draw.Shrink(where, func(where query.And) bool { return rewritten(schema, w, where) != "" })
				t.Fatalf("seed %d: %#v: %s", seed, small, rewritten(schema, w, small))
			}
		}
	}
}

// rewritten says what is lost when a condition is written in the language, or as parameters, and read again.
func rewritten(schema query.Schema, w *world, where query.And) string {
	same := func(again query.Node) bool {
		return !slices.ContainsFunc(w.refs, func(e *reference.Event) bool { return e.Holds(where) != e.Holds(again) })
	}
	q := query.Format(where)
	if again, violations := query.Parse(schema, "q", q); len(violations) > 0 && len(q) <= query.MaxQuery {
		return fmt.Sprintf("%q is refused: %+v", q, violations)
	} else if len(violations) == 0 && !same(again) {
		return fmt.Sprintf("%q is read as %#v", q, again)
	}
	params := query.Encode(query.Filter{Where: where})
	none := func(string) bool { return false }
	f, violations := query.Decode(schema, params, none, "")
	switch {
	case len(violations) > 0 && !strings.Contains(fmt.Sprint(violations), "bytes"):
		return fmt.Sprintf("%q are refused: %+v", params.Encode(), violations)
	case len(violations) > 0:
		return ""
	case !same(f.Where):
		return fmt.Sprintf("%q are read as %#v", params.Encode(), f.Where)
	case query.Canonical(f.Where) != query.Canonical(where):
		return fmt.Sprintf("%q and %q are one filter", query.Canonical(f.Where), query.Canonical(where))
	}
	if back := query.Encode(f); back.Encode() != params.Encode() {
		return fmt.Sprintf("%q become %q", unescaped(params), unescaped(back))
	}
	return ""
}

func unescaped(v url.Values) string {
	s, err := url.QueryUnescape(v.Encode())
	if err != nil {
		return v.Encode()
	}
	return s
}
