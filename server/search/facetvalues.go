package search

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"oriel/server/query"
)

// each calls f for the values that the event has of a facet field, as stored: severity as the rank in digits.
func (m *match) each(field query.Field, f func(string)) {
	one := func(value string) {
		if value != "" {
			f(value)
		}
	}
	switch {
	case field.Kind == query.Severity:
		if m.severity > 0 {
			f(strconv.Itoa(int(m.severity)))
		}
	case field.Kind == query.Attribute && field.Name == "type":
		one(m.kind)
	case field.Kind == query.Attribute && field.Name == "source":
		one(m.source)
	case field.Kind == query.Attribute && field.Name == "subject":
		one(m.subject)
	case field.Kind == query.Facet && field.Name == dimensionTag:
		for _, t := range m.tags {
			f(t)
		}
	case field.Kind == query.Facet:
		for _, x := range m.facets {
			if value, ok := strings.CutPrefix(x, field.Name+"="); ok {
				f(value)
			}
		}
	}
}

// facetable says whether events can be counted by a field.
func facetable(f query.Field) bool {
	return f.Kind == query.Severity || f.Kind == query.Facet ||
		f.Kind == query.Attribute && (f.Name == "type" || f.Name == "source" || f.Name == "subject")
}

// shownValue is a stored value as people read and write it.
func shownValue(f query.Field, value string) string {
	if f.Kind != query.Severity {
		return value
	}
	rank, err := strconv.ParseInt(value, 10, 16)
	if err != nil {
		return ""
	}
	return query.SeverityName(int16(rank))
}

// storedValue is the opposite; "" where no event can have it.
func storedValue(f query.Field, value string) string {
	if f.Kind != query.Severity {
		return value
	}
	rank, ok := query.SeverityRank(value)
	if !ok {
		return ""
	}
	return strconv.Itoa(int(rank))
}

// frequent is the values by falling number, then by value.
func frequent(n map[string]int64) []string {
	values := make([]string, 0, len(n))
	for v := range n {
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), strings.Compare(a, b)) })
	return values
}
