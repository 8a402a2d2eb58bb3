package query

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"oriel/server/cloudevents"
)

// Encode is the canonical parameters of a filter: Decode of them is the filter again, normalised.
func Encode(f Filter) url.Values {
	params := url.Values{}
	var rest And // what parameters cannot say
	best := map[string][]string{}
	said := map[string]Node{} // by which condition a parameter is taken
	for _, n := range conjuncts(Normalise(f.Where)) {
		name, values, ok := parameterOf(n)
		switch {
		case !ok:
			rest = append(rest, n)
		case name == facetTag && len(values) == 1 && len(best[name]) < MaxValues:
			best[name] = append(best[name], values[0])
		case name == facetTag:
			rest = append(rest, n)
		case said[name] == nil:
			best[name], said[name] = values, n
		case len(values) > len(best[name]): // the longest is the parameter, so that q stays short
			rest = append(rest, said[name])
			best[name], said[name] = values, n
		default:
			rest = append(rest, n)
		}
	}
	for name, values := range best {
		params[name] = values
	}
	encodeRest(params, rest)
	for name, b := range map[string]Bound{
		"from": f.From, "until": f.Until, "arrivedFrom": f.ArrivedFrom, "arrivedUntil": f.ArrivedUntil,
	} {
		if b.Given() {
			params.Set(name, b.String())
		}
	}
	return params
}

// encodeRest puts conditions into one q. Where that would be longer than a q may be, alternatives become
// several, and one negation becomes q!.
func encodeRest(params url.Values, rest And) {
	if len(rest) == 0 {
		return
	}
	q := Format(rest)
	if len(q) <= MaxQuery {
		params.Set("q", q)
		return
	}
	longest, size := -1, 0
	for i, n := range rest {
		if not, ok := n.(Not); ok {
			if s := len(Format(not.Of)); s > size {
				longest, size = i, s
			}
		}
	}
	if longest >= 0 {
		params["q!"] = queries(rest[longest].(Not).Of)
		rest = slices.Delete(slices.Clone(rest), longest, longest+1)
	}
	if len(rest) > 0 {
		params["q"] = queries(rest)
	}
}

func queries(n Node) []string {
	n = Normalise(n)
	or, ok := n.(Or)
	if !ok || len(or) == 0 {
		return []string{Format(n)}
	}
	out := make([]string, len(or))
	for i, alternative := range or {
		out[i] = Format(alternative)
	}
	return out
}

// parameterOf is the parameter that says a condition, and its values.
func parameterOf(n Node) (name string, values []string, ok bool) {
	suffix := ""
	if not, is := n.(Not); is {
		n, suffix = not.Of, "!"
	}
	if c, is := n.(Compare); is && c.Field.Kind == Severity && c.Op == AtLeast {
		return "severity" + suffix, []string{c.Value}, true
	}
	alternatives, is := n.(Or)
	if !is {
		alternatives = Or{n}
	}
	if len(alternatives) > MaxValues {
		return "", nil, false
	}
	for _, a := range alternatives {
		f, value, is := valueOf(a)
		if !is || name != "" && f.String() != name {
			return "", nil, false
		}
		switch f.Kind {
		case Extension, Data:
		case Attribute, Facet:
			if value, is = rawValue(a); !is || !slices.Contains([]string{"type", "source", "subject"}, f.Name) && f.Kind == Attribute {
				return "", nil, false
			}
		default:
			return "", nil, false
		}
		name = f.String()
		values = append(values, value)
	}
	return name + suffix, values, name != ""
}

// rawValue is the value of an exact condition, if a parameter takes it as it is.
func rawValue(n Node) (string, bool) {
	e, ok := n.(Equal)
	return e.Value, ok && e.Value != "" && len(e.Value) <= cloudevents.MaxAttribute && !strings.ContainsRune(e.Value, 0) && utf8.ValidString(e.Value)
}
