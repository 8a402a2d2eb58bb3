package query

import (
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"oriel/server/cloudevents"
	"oriel/server/fault"
)

// Limits of a filter, named in every refusal.
const (
	MaxValues     = 100  // values of one parameter
	MaxFilter     = 100  // values of all parameters that are conditions together, but for q
	MaxQuery      = 4096 // bytes of one q
	MaxConditions = 64   // leaves of all q together
	MaxDepth      = 32   // of parentheses
)

// decoder collects everything that is wrong, in the order of parameters.
type decoder struct {
	Reader
	schema Schema
	leaves int
}

// Decode reads the filter parameters among params: type, source, subject, each configured facet, severity,
// ext.<name>, data.<path>, q, each with its negated twin (type!), from, until, arrivedFrom, arrivedUntil and
// v. Parameters for which other says true are the caller's, and accepted names them; anything else is reported,
// with all that there is and what is nearest. It is total: everything wrong is reported together. A parameter that is present but empty is absent.
func Decode(s Schema, params url.Values, other func(string) bool, accepted string) (Filter, []fault.Violation) {
	d := &decoder{Reader: Reader{Params: params}, schema: s}
	values, paths := d.names(other, accepted)
	var where And
	for _, name := range values {
		f, _ := FieldOf(s, name) // all of them are fields
		where = append(where, d.equals(f, name, false)...)
		where = append(where, d.equals(f, name+"!", true)...)
	}
	where = append(where, d.severity("severity", false)...)
	where = append(where, d.severity("severity!", true)...)
	for _, p := range paths {
		where = append(where, d.written(p)...)
	}
	where = append(where, d.query("q", false)...)
	where = append(where, d.query("q!", true)...)
	f := Filter{
		Where: conjuncts(Normalise(where)), From: d.Bound("from"), Until: d.Bound("until"),
		ArrivedFrom: d.Bound("arrivedFrom"), ArrivedUntil: d.Bound("arrivedUntil"),
	}
	if v := d.Single("v"); v != "" && v != "1" {
		d.Invalid("v", v, "1", "The parameter v is the version of the filter parameters, and only 1 exists.")
	}
	if len(d.Violations) > 0 {
		return Filter{}, d.Violations
	}
	if d.crowded(params, other) || d.crowded(Encode(f), nil) { // or it could not be said again
		return Filter{}, d.Violations
	}
	if v, long := spelledLong(f); long { // nor could this
		return Filter{}, []fault.Violation{v}
	}
	return f, nil
}

// crowded reports more conditions than a filter may have beside q.
func (d *decoder) crowded(params url.Values, other func(string) bool) bool {
	n := 0
	for name, vs := range params {
		if base := strings.TrimSuffix(name, "!"); base == "q" || slices.Contains(notConditions(), base) || other != nil && other(name) {
			continue
		}
		for _, v := range vs {
			if v != "" {
				n++
			}
		}
	}
	if n <= MaxFilter {
		return false
	}
	d.Violations = append(d.Violations, fault.Violation{
		Reason:  fault.ReasonInvalidParameter,
		Message: "The filter has " + strconv.Itoa(n) + " values of parameters, beside q; at most " + strconv.Itoa(MaxFilter) + " are looked for together.",
		Metadata: fault.Pairs("attribute", "filter", "value", strconv.Itoa(n)+" values", "limit", strconv.Itoa(MaxFilter),
			"accepted", "at most "+strconv.Itoa(MaxFilter)+" values of all parameters together, beside q"),
	})
	return true
}

// notConditions are the parameters of a filter that have no negated twin.
func notConditions() []string { return []string{"from", "until", "arrivedFrom", "arrivedUntil", "v"} }

// conjuncts is a condition as what must all hold.
func conjuncts(n Node) And {
	if and, ok := n.(And); ok {
		return and
	}
	return And{n}
}

func spelledLong(f Filter) (fault.Violation, bool) {
	params := Encode(f)
	for _, name := range []string{"q", "q!"} {
		for _, q := range params[name] {
			if len(q) > MaxQuery {
				return tooLong(name, q), true
			}
		}
	}
	return fault.Violation{}, false
}

// raw are the fields whose parameters take values as they are, in their order.
func raw(s Schema) []string {
	out := []string{"type", "source", "subject"}
	for _, name := range s.Facets {
		if CheckFacet(name) == nil {
			out = append(out, name)
		}
	}
	return out
}

// names sorts the parameters, and reports those that are none.
func (d *decoder) names(other func(string) bool, accepted string) ([]string, []written) {
	values := raw(d.schema)
	var paths []written
	for _, name := range slices.Sorted(maps.Keys(d.Params)) {
		base, negated := strings.CutSuffix(name, "!")
		switch {
		case slices.Contains(values, base), base == "severity", base == "q":
			continue
		case !negated && slices.Contains(notConditions(), name):
			continue
		case other != nil && other(name):
			continue
		}
		if !likeField(base) {
			d.unknown(name, accepted)
			continue
		}
		f, err := FieldOf(d.schema, base)
		if err == nil && !utf8.ValidString(base) {
			err = errPath
		}
		if err != nil {
			d.Invalid(Shown(name), base, err.Error(), "The parameter "+Quote(name)+" names no field: "+err.Error()+".")
			continue
		}
		i := slices.IndexFunc(paths, func(w written) bool { return w.field == f && w.negated == negated })
		if i < 0 {
			i = len(paths)
			paths = append(paths, written{field: f, negated: negated})
		}
		paths[i].names = append(paths[i].names, name)
	}
	return values, paths
}

// unknown reports a parameter that is none, with those that there are and the nearest of them.
func (d *decoder) unknown(name, callers string) {
	conditions := append(raw(d.schema), "severity", "q")
	near, least := "", math.MaxInt
	others := notConditions()
	if callers != "" {
		others = append(others, strings.Split(callers, ", ")...)
	}
	for _, known := range slices.Concat(conditions, others) {
		far := distance(strings.ToLower(name), strings.ToLower(known))
		if len(known) > 1 && far <= max(1, len(known)/3) && far < least {
			near, least = known, far
		}
	}
	accepted := strings.Join(conditions, ", ") + ", ext.<name>, data.<path>, each of these also with ! for not, " + strings.Join(others, ", ")
	v := fault.Violation{
		Reason:   fault.ReasonUnknownParameter,
		Message:  "There is no parameter " + Quote(name) + " here; accepted: " + accepted + ".",
		Metadata: fault.Pairs("attribute", Shown(name), "accepted", accepted),
	}
	if near != "" {
		v.Message = "There is no parameter " + Quote(name) + " here; did you mean " + near + "? Accepted: " + accepted + "."
		v.Metadata["suggestions"] = near
	}
	d.Violations = append(d.Violations, v)
}

// likeField says whether a parameter is named like a field of extensions or data.
func likeField(base string) bool {
	return strings.HasPrefix(base, "ext.") || base == "data" || strings.HasPrefix(base, "data.") || strings.HasPrefix(base, "data[")
}

func (d *decoder) equals(f Field, name string, negated bool) []Node {
	var nodes []Node
	for _, v := range d.Values(name) {
		switch {
		case strings.ContainsRune(v, 0):
			d.Invalid(name, v, "text without control characters", "A value of "+name+" holds a NUL, which no event has.")
		case len(v) > cloudevents.MaxAttribute:
			d.Invalid(name, v, "at most 1024 bytes", "A value of "+name+" is longer than 1024 bytes, which no event has.")
		default:
			nodes = append(nodes, Equal{Field: f, Value: v})
		}
	}
	if f == (Field{Facet, facetTag}) && !negated {
		return nodes
	}
	return group(nodes, negated)
}

func (d *decoder) severity(name string, negated bool) []Node {
	lowest := int16(0)
	for _, v := range d.Values(name) {
		rank, ok := SeverityRank(v)
		if !ok {
			d.Invalid(name, v, acceptedSeverity, Quote(v)+" is no severity.")
			continue
		}
		if lowest == 0 || rank < lowest {
			lowest = rank
		}
	}
	if lowest == 0 {
		return nil
	}
	return group([]Node{Compare{Field{Kind: Severity}, AtLeast, SeverityName(lowest)}}, negated)
}

// query reads q: several are alternatives.
func (d *decoder) query(name string, negated bool) []Node {
	var alternatives []Node
	for _, v := range d.Values(name) {
		n, leaves, violations := parse(d.schema, name, v)
		d.leaves += leaves
		if d.leaves > MaxConditions && leaves <= MaxConditions {
			violations = append(violations, tooMany(name, v))
		}
		d.Violations = append(d.Violations, violations...)
		if len(violations) == 0 {
			alternatives = append(alternatives, n)
		}
	}
	return group(alternatives, negated)
}

// group makes one condition of alternatives.
func group(nodes []Node, negated bool) []Node {
	if len(nodes) == 0 {
		return nil
	}
	var n Node = Or(nodes)
	if negated {
		n = Not{n}
	}
	return []Node{n}
}
