package search

import (
	"slices"
	"strings"

	"oriel/server/query"
)

// route is a way to all rows that can fulfil a filter: they are among those of its alternatives.
type route []alternative

// alternative is rows that carry one key of each set, by the index of identifiers; or, where it has no keys,
// rows that an index of PostgreSQL finds.
type alternative struct {
	keys [][]int64
	sql  func(compiler) string
}

// keyed says whether the index of identifiers is needed.
func (r route) keyed() bool {
	return slices.ContainsFunc(r, func(a alternative) bool { return len(a.keys) > 0 })
}

// sql is what PostgreSQL's indexes find; never where nothing.
func (r route) sql(c compiler) string {
	var parts []string
	for _, a := range r {
		if a.sql != nil {
			parts = append(parts, a.sql(c))
		}
	}
	switch len(parts) {
	case 0:
		return never
	case 1:
		return parts[0]
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// How many keys of a word, and of a conjunction, are looked up, the most selective first: more find hardly less.
const (
	keysOfTerm = 2
	keysOfAll  = 4
)

// routeOf is the best way to the rows of n; nil where no index bounds them.
func (f *facts) routeOf(n query.Node) route {
	switch n := n.(type) {
	case query.And:
		return f.together(n)
	case query.Or:
		var out route
		for _, child := range n {
			r := f.routeOf(child)
			if r == nil {
				return nil
			}
			out = append(out, r...)
		}
		return out
	case query.Not:
		return nil
	default:
		return f.routeOfTerm(f.terms[n])
	}
}

func (f *facts) routeOfTerm(t term) route {
	var keys [][]int64
	var lexemes [][]int64
	for _, c := range t.clauses {
		switch {
		case len(c.lexemes) == 0 && len(c.keys) > 0:
			keys = append(keys, c.keys)
		case len(c.keys) == 0:
			lexemes = append(lexemes, c.lexemes)
		}
	}
	switch {
	case len(keys) > 0:
		return route{{keys: keys[:min(len(keys), keysOfTerm)]}}
	case len(lexemes) > 0:
		return route{{sql: carrying(lexemes)}}
	case len(t.clauses) > 0: // one thing or the other
		c := t.clauses[0]
		return route{{keys: [][]int64{c.keys}}, {sql: carrying([][]int64{c.lexemes})}}
	}
	return nil
}

func carrying(clauses [][]int64) func(compiler) string {
	return func(c compiler) string {
		parts := make([]string, len(clauses))
		for i, hashes := range clauses {
			parts[i] = c.carries(hashes, c.facts.reserved)
		}
		return join(parts...)
	}
}

// together is the way to what fulfils every condition: by the identity where source and id are given; by keys where
// some condition has them, as they find least; else by the words; else by the condition of the fewest alternatives.
func (f *facts) together(nodes query.And) route {
	var keys [][]int64
	var words []func(compiler) string
	var mixed route
	if source, id := selects(nodes, "source"), selects(nodes, "id"); source != "" && id != "" && len(f.keys) > 0 {
		return route{{keys: [][]int64{f.identity(source, id).keys}}} // hardly any other row has it
	}
	for _, n := range nodes {
		switch r := f.routeOf(n); {
		case r == nil:
		case len(r) == 1 && r.keyed():
			keys = append(keys, r[0].keys...)
		case !r.keyed():
			words = append(words, r.sql)
		case mixed == nil || len(r) < len(mixed):
			mixed = r
		}
	}
	switch {
	case len(keys) > 0:
		return route{{keys: keys[:min(len(keys), keysOfAll)]}}
	case len(words) > 0:
		return route{{sql: func(c compiler) string {
			parts := make([]string, len(words))
			for i, w := range words {
				parts[i] = w(c)
			}
			return join(parts...)
		}}}
	}
	return mixed
}

// selects is the one value that the conditions require of an attribute.
func selects(nodes query.And, name string) string {
	for _, n := range nodes {
		if e, ok := n.(query.Equal); ok && e.Field == (query.Field{Kind: query.Attribute, Name: name}) {
			return e.Value
		}
	}
	return ""
}

// selective says whether a field beside the words has an index of its own.
func selective(where query.And) bool {
	return slices.ContainsFunc(where, func(n query.Node) bool {
		switch n := n.(type) {
		case query.Equal:
			return n.Field.Kind == query.Attribute && slices.Contains([]string{"type", "source", "subject"}, n.Field.Name)
		case query.Compare:
			rank, ok := query.SeverityRank(n.Value)
			return ok && n.Field.Kind == query.Severity && rank >= errorRank && (n.Op == query.AtLeast || n.Op == query.Greater)
		case query.Or: // of values of one field
			return len(n) > 0 && selective(query.And(n[:1]))
		default:
			return false
		}
	})
}
