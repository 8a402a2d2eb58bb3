package consume

import (
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"oriel/server/cloudevents"
	"oriel/server/facets"
	"oriel/server/lexicon"
	"oriel/server/query"
)

// Bounds of what becomes a facet. What is beyond stays an ordinary word of the event; a rollup row
// must fit an index entry.
const (
	maxFacetValue = 256
	maxTags       = 64
	maxPerField   = 16
)

// facetField is one configured field: a payload path, by its place among the picks, or an extension.
type facetField struct {
	name      string
	pick      int // -1: an extension
	extension string
}

// facetPlan is the configuration compiled against one parse of the data.
type facetPlan struct {
	fields   []facetField // sorted by name; the tag field is not among them
	counted  []string     // the names of those that are dimensions
	tag      facetField
	hasTag   bool
	picks    []string
	severity int // its place among the picks
}

func planFacets(c facets.Config) facetPlan {
	p := facetPlan{picks: []string{c.Severity}, counted: c.Counted()}
	for _, field := range c.Fields {
		f := facetField{name: field.Name, pick: -1}
		if field.From.Kind == query.Data {
			f.pick = len(p.picks)
			p.picks = append(p.picks, field.From.Name)
		} else {
			f.extension = field.From.Name
		}
		if field.Name == facets.Tag {
			p.tag, p.hasTag = f, true
		} else {
			p.fields = append(p.fields, f)
		}
	}
	return p
}

// values are the texts of a field in one event, usable as facets, distinct, in order.
func (f *facetField) values(e *cloudevents.Event, out *lexicon.Output, limit int) []string {
	if f.pick < 0 {
		if v := extension(e, f.extension); facetable(v) {
			return []string{v}
		}
		return nil
	}
	if out.Picked[f.pick] == "" && len(out.PickedAll[f.pick]) == 0 {
		return nil
	}
	var vs []string
	for _, v := range out.PickedAll[f.pick] {
		if len(vs) == limit {
			break
		}
		if facetable(v) && !slices.Contains(vs, v) {
			vs = append(vs, v)
		}
	}
	return vs
}

// facetable says whether a text can be a facet's value: PostgreSQL's text holds neither U+0000 nor
// invalid UTF-8, and an empty value names nothing.
func facetable(v string) bool {
	return v != "" && len(v) <= maxFacetValue && strings.IndexByte(v, 0) < 0 && utf8.ValidString(v)
}

// derive fills severity, tags and facets of a row from its event and the parse of its data.
func (p *facetPlan) derive(r *row, out *lexicon.Output) {
	e := r.event
	r.severity = p.severityOf(e, out)
	if p.hasTag {
		r.tags = p.tag.values(e, out, maxTags)
	}
	for i := range p.fields {
		f := &p.fields[i]
		vs := f.values(e, out, maxPerField)
		if len(vs) == 0 && f.name == facets.Device && facetable(e.Subject) {
			vs = []string{e.Subject}
		}
		for _, v := range vs {
			r.facets = append(r.facets, f.name+"="+v)
		}
	}
}

// severityOf is the first of severitynumber, severitytext, severity and the configured path that
// names a rank.
func (p *facetPlan) severityOf(e *cloudevents.Event, out *lexicon.Output) int16 {
	if n := severityOfNumber(extension(e, "severitynumber")); n > 0 {
		return n
	}
	if n := severityOfText(extension(e, "severitytext")); n > 0 {
		return n
	}
	if n := severityOfText(extension(e, "severity")); n > 0 {
		return n
	}
	return severityOfText(out.Picked[p.severity])
}

func extension(e *cloudevents.Event, name string) string {
	i, ok := slices.BinarySearchFunc(e.Extensions, name, func(x cloudevents.Extension, n string) int {
		return strings.Compare(x.Name, n)
	})
	if !ok {
		return ""
	}
	return e.Extensions[i].Value
}

// traceID is the trace id of a W3C traceparent: the extension's, else the header's, else nil.
func traceID(e *cloudevents.Event, rest []cloudevents.Header) []byte {
	if id := parseTraceparent(extension(e, "traceparent")); id != nil {
		return id
	}
	for i := range rest {
		if strings.EqualFold(rest[i].Key, "traceparent") {
			return parseTraceparent(string(rest[i].Value))
		}
	}
	return nil
}

// parseTraceparent reads version "-" trace-id "-" parent-id "-" flags (W3C Trace Context, 3.2). A later
// version may have more after the flags; version ff and a zero trace id are invalid.
func parseTraceparent(s string) []byte {
	if len(s) < 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' || s[:2] == "ff" || (len(s) > 55 && (s[:2] == "00" || s[55] != '-')) {
		return nil
	}
	if s != strings.ToLower(s) {
		return nil
	}
	id, err := hex.DecodeString(s[3:35])
	if err != nil {
		return nil
	}
	for _, part := range []string{s[:2], s[36:52], s[53:55]} {
		if _, err := hex.DecodeString(part); err != nil {
			return nil
		}
	}
	for _, b := range id {
		if b != 0 {
			return id
		}
	}
	return nil
}
