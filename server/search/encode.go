package search

import (
	"net/url"
	"slices"
	"strings"
)

// spelling is the parameter value that a leaf, or a conjunction of words, comes from.
func spelling(n Node) string {
	switch n := n.(type) {
	case Equal:
		return n.Value
	case AtLeast:
		return SeverityName(n.Rank)
	case Word:
		return n.Text
	case And:
		ws := make([]string, len(n))
		for i, c := range n {
			ws[i] = spelling(c)
		}
		return strings.Join(ws, " ")
	default:
		return ""
	}
}

// Encode is the canonical parameters of a filter: Decode of them is the filter again. ok is false for
// a condition that the parameters cannot say.
func Encode(f Filter) (params url.Values, ok bool) {
	params = url.Values{}
	var spread []string
	for _, n := range f.Where {
		if w, is := n.(Word); is {
			spread = append(spread, w.Text)
			continue
		}
		suffix := ""
		if not, is := n.(Not); is {
			n, suffix = not.Of, "!"
		}
		alternatives, is := n.(Or)
		if !is {
			alternatives = Or{n}
		}
		name, is := parameterOf(alternatives)
		if !is || params.Has(name+suffix) {
			return nil, false
		}
		for _, a := range alternatives {
			params.Add(name+suffix, spelling(a))
		}
	}
	if len(spread) > 0 {
		if params.Has("q") {
			return nil, false
		}
		params.Set("q", strings.Join(spread, " "))
	}
	for name, b := range map[string]Bound{"from": f.From, "until": f.Until} {
		if b.given() {
			params.Set(name, b.String())
		}
	}
	return params, true
}

// parameterOf is the parameter that all alternatives are values of.
func parameterOf(alternatives Or) (string, bool) {
	name := ""
	for _, a := range alternatives {
		this := ""
		switch a := a.(type) {
		case Equal:
			this = a.Field.String()
		case AtLeast:
			this = "severity"
		case Word:
			this = "q"
		case And:
			if len(a) > 1 && !slices.ContainsFunc(a, func(n Node) bool { _, is := n.(Word); return !is }) {
				this = "q"
			}
		}
		if this == "" || name != "" && this != name {
			return "", false
		}
		name = this
	}
	return name, name != ""
}

// canonical is one text for all spellings of a filter's conditions, its bounds left out: a snapshot
// has them.
func canonical(where And) string {
	params, ok := Encode(Filter{Where: where})
	if !ok {
		return ""
	}
	return params.Encode()
}
