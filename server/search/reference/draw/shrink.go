package draw

import (
	"oriel/server/query"
	"oriel/server/search/reference"
)

// Shrink looks for smaller conditions for which fails still holds, step by step, as long as there are any.
func Shrink(where query.And, fails func(query.And) bool) query.And {
	for {
		found := false
		for _, smaller := range simpler(where) {
			next, ok := smaller.(query.And)
			if !ok {
				next = query.And{smaller}
			}
			if fails(next) {
				where, found = next, true
				break
			}
		}
		if !found {
			return where
		}
	}
}

// simpler is what is a little simpler than a condition.
func simpler(n query.Node) (out []query.Node) {
	lists := func(of []query.Node, rebuild func([]query.Node) query.Node) {
		out = append(out, of...)
		for i := range of {
			if len(of) > 1 {
				out = append(out, rebuild(append(append([]query.Node{}, of[:i]...), of[i+1:]...)))
			}
			for _, s := range simpler(of[i]) {
				changed := append([]query.Node{}, of...)
				changed[i] = s
				out = append(out, rebuild(changed))
			}
		}
	}
	switch n := n.(type) {
	case query.And:
		if len(n) == 1 {
			return append(out, simpler(n[0])...)
		}
		lists(n, func(of []query.Node) query.Node { return query.And(of) })
	case query.Or:
		lists(n, func(of []query.Node) query.Node { return query.Or(of) })
	case query.Not:
		out = append(out, n.Of)
		for _, s := range simpler(n.Of) {
			out = append(out, query.Not{Of: s})
		}
	case query.Word:
		for _, t := range shorter(n.Text) {
			out = append(out, query.Word{Text: t})
		}
	case query.Contains:
		for _, t := range shorter(n.Text) {
			out = append(out, query.Contains{Field: n.Field, Text: t})
		}
	case query.Prefix:
		for _, t := range shorter(n.Text) {
			out = append(out, query.Prefix{Field: n.Field, Text: t})
		}
	}
	return out
}

// shorter is a text without its halves and without single characters.
func shorter(s string) (out []string) {
	rs := []rune(s)
	try := func(t string) {
		if len(reference.Leaves(t)) > 0 {
			out = append(out, t)
		}
	}
	if len(rs) > 3 {
		try(string(rs[:len(rs)/2]))
		try(string(rs[len(rs)/2:]))
	}
	if len(rs) <= 40 {
		for i := range rs {
			try(string(rs[:i]) + string(rs[i+1:]))
		}
	}
	return out
}
