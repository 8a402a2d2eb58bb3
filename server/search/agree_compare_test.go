package search

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"oriel/server/fault"
	"oriel/server/query"
	"oriel/server/search/reference"
)

// inquiry is one filter in one window, asked of one service.
type inquiry struct {
	w      *world
	svc    *Service
	where  query.And
	window reference.Window
	seed   uint64 // of the choices that follow: page size, fields, zone

	snapshot string // "" lets each answer make its own
}

// between is the events that a window has, with the reference's answer.
func (a *inquiry) truth() []*reference.Event { return reference.Search(a.w.events, a.where, a.window) }

func stamp(micros int64) string { return query.FormatTime(time.UnixMicro(micros)) }

func (a *inquiry) params(more ...string) url.Values {
	v := query.Encode(query.Filter{Where: a.where})
	v.Set("from", stamp(a.window.From))
	v.Set("until", stamp(a.window.Until))
	if a.window.ArrivedFrom != 0 {
		v.Set("arrivedFrom", stamp(a.window.ArrivedFrom))
	}
	if a.window.ArrivedUntil != 0 {
		v.Set("arrivedUntil", stamp(a.window.ArrivedUntil))
	}
	more = append(more, "snapshot", a.snapshot)
	for i := 0; i+1 < len(more); i += 2 {
		if more[i+1] != "" && (more[i] != "snapshot" || v.Get("pageToken") == "") {
			v.Add(more[i], more[i+1])
		}
	}
	return v
}

// choose is a number below n that follows from the seed and what it is for.
func (a *inquiry) choose(what string, n int) int {
	h := a.seed
	for _, c := range []byte(what) {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return int((h >> 13) % uint64(n))
}

// declined says that an error is an honest "no": the filter is beyond a limit that is named.
func declined(err error) bool {
	var e *fault.Error
	if !errors.As(err, &e) {
		return false
	}
	for _, v := range e.Violations {
		if strings.Contains(v.Message, "more than") || v.Metadata["limit"] != "" {
			return true
		}
	}
	return false
}

func placeOf(log int16, partition int32, offset int64) string {
	return fmt.Sprintf("%d/%d/%d", log, partition, offset)
}

func places(events []Event) (out []string) {
	for i := range events {
		p := events[i].Position
		out = append(out, placeOf(p.Log, p.Partition, p.Offset))
	}
	return out
}

func placesOf(events []*reference.Event) (out []string) {
	for _, e := range events {
		out = append(out, placeOf(e.Log, e.Partition, e.Offset))
	}
	return out
}

// problem is what is wrong with the answers, "" where nothing is.
func (a *inquiry) problem(ctx context.Context) string {
	for _, check := range []func(context.Context) string{a.rows, a.count, a.facets, a.histogram, a.export, a.around} {
		if p := check(ctx); p != "" {
			return p
		}
	}
	return ""
}

// rows follows the pages to the end and back again.
func (a *inquiry) rows(ctx context.Context) string {
	want := a.truth()
	size := max([]int{1, 2, 3, 7, 25, 100, 500}[a.choose("size", 7)], len(want)/6+1)
	size = min(size, 500)
	var got []Event
	var last *Page
	token, edge := "", a.window.Until
	for n := 0; n == 0 || token != ""; n++ {
		p, err := a.svc.List(ctx, a.params("pageSize", strconv.Itoa(size), "pageToken", token))
		switch {
		case err != nil && declined(err) && n == 0:
			return ""
		case err != nil:
			return fmt.Sprintf("page %d: %v", n, err)
		case n > 5000:
			return "the pages have no end"
		case len(p.Events) > size:
			return fmt.Sprintf("a page of %d has %d events", size, len(p.Events))
		}
		// Pages meet within one microsecond: the events of that one may be on either.
		if until := p.CoveredUntil.UnixMicro(); until < edge || until > edge+1 {
			return fmt.Sprintf("page %d covers up to %s, the one before down to %s", n, p.CoveredUntil, time.UnixMicro(edge).UTC())
		}
		edge = p.CoveredFrom.UnixMicro()
		for i := range p.Events {
			if at := p.Events[i].OccurredAt; at.Before(p.CoveredFrom) || !at.Before(p.CoveredUntil) {
				return fmt.Sprintf("an event of %s is on a page that covers %s to %s", at, p.CoveredFrom, p.CoveredUntil)
			}
		}
		got = append(got, p.Events...)
		last, token = p, p.NextToken
	}
	if edge != a.window.From {
		return fmt.Sprintf("the last page covers from %s, not from %s", last.CoveredFrom, stamp(a.window.From))
	}
	if p := a.differ("rows", want, places(got)); p != "" {
		return p
	}
	for i := range got {
		if p := sameEvent(&got[i], want[i]); p != "" {
			return p
		}
	}
	// And back, from the last page.
	back := slices.Clone(last.Events)
	for n, token := 0, last.PrevToken; token != ""; n++ {
		p, err := a.svc.List(ctx, a.params("pageSize", strconv.Itoa(size), "pageToken", token))
		if err != nil {
			return fmt.Sprintf("page %d backward: %v", n, err)
		}
		if n > 5000 {
			return "the pages backward have no end"
		}
		back = append(slices.Clone(p.Events), back...)
		token = p.PrevToken
	}
	return a.differ("rows backward", want, places(back))
}

// sameEvent compares what a list shows of an event with what the reference derives.
func sameEvent(e *Event, want *reference.Event) string {
	facets := map[string][]string{}
	for name, values := range e.Facets {
		facets[name] = values
	}
	if int(e.Severity) != want.Severity || !slices.Equal(e.Tags, want.Tags) || fmt.Sprint(facets) != fmt.Sprint(want.Facets) {
		return fmt.Sprintf("%s %s is shown with severity %d, tags %q, facets %q; it has %d, %q, %q",
			e.Source, e.ID, e.Severity, e.Tags, e.Facets, want.Severity, want.Tags, want.Facets)
	}
	return ""
}

func (a *inquiry) differ(what string, want []*reference.Event, got []string) string {
	if slices.Equal(placesOf(want), got) {
		return ""
	}
	for _, e := range want {
		if !slices.Contains(got, placeOf(e.Log, e.Partition, e.Offset)) {
			return fmt.Sprintf("%s: %d instead of %d; missing %s", what, len(got), len(want), a.w.show(e))
		}
	}
	for _, e := range a.w.events {
		at := placeOf(e.Log, e.Partition, e.Offset)
		if slices.Contains(got, at) && !slices.Contains(placesOf(want), at) {
			return fmt.Sprintf("%s: %d instead of %d; too many: %s", what, len(got), len(want), a.w.show(e))
		}
	}
	return fmt.Sprintf("%s: %d in another order, or some twice: %q instead of %q", what, len(got), got, placesOf(want))
}

// show describes an event so that it can be made again.
func (w *world) show(e *reference.Event) string {
	data := string(e.Data)
	if len(data) > 2000 {
		data = data[:2000] + "…"
	}
	return fmt.Sprintf("%s at %s: source %q id %q type %q subject %q content type %q extensions %q facets %q tags %q data %q",
		placeOf(e.Log, e.Partition, e.Offset), stamp(e.Micros), e.Source, e.ID, e.Type, e.Subject, e.DataContentType, e.Extensions, e.Facets, e.Tags, data)
}
