package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"oriel/server/cloudevents"
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
	var pages [][]Event
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
		pages = append(pages, p.Events)
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
	case c.Relation == IsAtLeast && c.Value > int64(len(truth)):
		return fmt.Sprintf("%s: at least %d of %d", what, c.Value, len(truth))
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

func (a *inquiry) facet(got *FacetCounts, limit int) string {
	field := fieldOf(got.Field)
	where, ok := query.Normalise(a.where).(query.And)
	if !ok {
		where = query.And{query.Normalise(a.where)}
	}
	truth := reference.Search(a.w.events, reference.Others(where, field), a.window)
	switch {
	case got.Relation == IsSampled:
		// A walk may end within a microsecond: of that one it has seen some.
		from := got.Covered.From.UnixMicro()
		surely := len(reference.Search(truth, nil, reference.Window{From: from + 1, Until: a.window.Until}))
		if got.Sample < int64(min(surely, 1)) || got.Sample > int64(len(truth)) || got.Sample > 0 && truth[got.Sample-1].Micros < from {
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
		if h.Total.Relation == IsExact && (b.Count != want.Count || b.Errors != want.Errors) {
			return fmt.Sprintf("the bucket from %s has %d events, %d errors, instead of %d and %d", b.From, b.Count, b.Errors, want.Count, want.Errors)
		}
		if b.Count > want.Count {
			return fmt.Sprintf("the bucket from %s has %d events of %d", b.From, b.Count, want.Count)
		}
		sum += b.Count
		if p := parts(&b, h, split, truth, in); p != "" && h.Total.Relation == IsExact {
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

// export reads the events as NDJSON to the end.
func (a *inquiry) export(ctx context.Context) string {
	if a.choose("export", 4) != 0 {
		return ""
	}
	e, err := a.svc.Export(ctx, a.params("format", "ndjson"))
	if err != nil {
		if declined(err) {
			return ""
		}
		return fmt.Sprintf("export: %v", err)
	}
	defer e.Close()
	var out bytes.Buffer
	if err := e.Write(ctx, &out); err != nil {
		return fmt.Sprintf("export: %v", err)
	}
	want := a.truth()
	var got []string
	var trailer exportTrailer
	for n, d := 0, json.NewDecoder(&out); ; n++ {
		var line struct {
			exported
			exportTrailer
		}
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Sprintf("line %d of the export: %v", n, err)
		}
		trailer = line.exportTrailer
		if line.ID == "" {
			continue
		}
		offset, err := strconv.ParseInt(line.Position.Offset, 10, 64)
		if err != nil {
			return fmt.Sprintf("line %d of the export: %v", n, err)
		}
		got = append(got, placeOf(line.Position.Log, line.Position.Partition, offset))
		if p := sameData(&line.exported, want, len(got)-1); p != "" {
			return p
		}
	}
	if !trailer.Trailer.Complete || trailer.Trailer.Count != len(want) {
		return fmt.Sprintf("the export ends with %+v, and there are %d events", trailer.Trailer, len(want))
	}
	return a.differ("export", want, got)
}

// sameData compares the data of an exported event, byte for byte.
func sameData(e *exported, want []*reference.Event, i int) string {
	if i >= len(want) {
		return ""
	}
	var data []byte
	switch {
	case e.DataText != nil:
		data = []byte(*e.DataText)
	case e.DataBase64 != nil:
		var err error
		if data, err = base64.StdEncoding.DecodeString(*e.DataBase64); err != nil {
			return fmt.Sprintf("the exported data of %s: %v", e.ID, err)
		}
	}
	if !bytes.Equal(data, want[i].Data) || (e.DataText == nil && e.DataBase64 == nil) != (want[i].Data == nil) {
		return fmt.Sprintf("event %d of the export, %s, has the data %q instead of %q", i, e.ID, data, want[i].Data)
	}
	return ""
}

// around asks for the events around one of those that there are.
func (a *inquiry) around(ctx context.Context) string {
	if len(a.w.events) == 0 || a.choose("around", 3) != 0 {
		return ""
	}
	anchor := a.w.events[a.choose("anchor", len(a.w.events))]
	by := []string{"all", "source", "subject", "trace"}[a.choose("by", 4)]
	field := query.Field{Kind: query.Attribute, Name: by}
	common := map[string]string{"all": "*", "source": anchor.Source, "subject": anchor.Subject, "trace": anchor.TraceID}[by]
	if by == "trace" {
		field = query.Field{Kind: query.Trace}
	}
	where := slices.Clone(a.where)
	if by != "all" {
		where = append(where, query.Equal{Field: field, Value: common, Text: true})
	}
	var earlier, later []*reference.Event
	for _, e := range reference.Search(a.w.events, where, a.window) {
		switch c := reference.Compare(e, anchor); {
		case c > 0:
			earlier = append(earlier, e)
		case c < 0:
			later = append([]*reference.Event{e}, later...)
		}
	}
	most := 1 + a.choose("most", 12)
	asked := a.params("time", stamp(anchor.Micros), "by", by, "before", strconv.Itoa(most), "after", strconv.Itoa(most))
	name := cloudevents.EscapeName(anchor.Source, anchor.ID)
	n, err := a.svc.Context(ctx, name, asked)
	switch {
	case common == "" && err != nil, err != nil && declined(err):
		return ""
	case err != nil || common == "":
		return fmt.Sprintf("around %s by %s: %v", name, by, err)
	}
	// A walk that ended before there were enough goes on.
	follow := func(events []Event, token string, backward bool) ([]Event, string) {
		for len(events) < most && token != "" {
			asked.Set("pageToken", token)
			asked.Del("snapshot")
			p, err := a.svc.Context(ctx, name, asked)
			if err != nil {
				return nil, err.Error()
			}
			if backward {
				events, token = append(events, p.After...), p.AfterToken
			} else {
				events, token = append(events, p.Before...), p.BeforeToken
			}
		}
		return events[:min(len(events), most)], ""
	}
	for _, side := range []struct {
		what     string
		got      []Event
		token    string
		want     []*reference.Event
		backward bool
	}{{"before", n.Before, n.BeforeToken, earlier, false}, {"after", n.After, n.AfterToken, later, true}} {
		got, problem := follow(side.got, side.token, side.backward)
		if problem == "" {
			problem = a.differ("events", side.want[:min(most, len(side.want))], places(got))
		}
		if problem != "" {
			return fmt.Sprintf("%d %s %s by %s: %s", most, side.what, a.w.show(anchor), by, problem)
		}
	}
	return ""
}
