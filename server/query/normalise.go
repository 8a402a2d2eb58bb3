package query

import (
	"cmp"
	"slices"
	"strings"

	"oriel/server/lexicon"
)

// Walk calls f for every node under n, n first.
func Walk(n Node, f func(Node)) {
	f(n)
	switch n := n.(type) {
	case And:
		for _, c := range n {
			Walk(c, f)
		}
	case Or:
		for _, c := range n {
			Walk(c, f)
		}
	case Not:
		Walk(n.Of, f)
	}
}

// Normalise is the one tree of all that say the same by construction: nested conjunctions and alternatives
// are flat, sorted and distinct, double negations gone, single ones unwrapped. And{} and Or{}, which hold
// always and never, are left only as the whole condition.
func Normalise(n Node) Node {
	switch n := n.(type) {
	case And:
		parts, constant := flatten(n, func(c Node) ([]Node, bool) { a, ok := c.(And); return a, ok },
			func(c Node) bool { o, ok := c.(Or); return ok && len(o) == 0 })
		switch {
		case constant:
			return Or{}
		case len(parts) == 1:
			return parts[0]
		}
		return And(parts)
	case Or:
		parts, constant := flatten(n, func(c Node) ([]Node, bool) { o, ok := c.(Or); return o, ok },
			func(c Node) bool { a, ok := c.(And); return ok && len(a) == 0 })
		switch {
		case constant:
			return And{}
		case len(parts) == 1:
			return parts[0]
		}
		return Or(parts)
	case Not:
		switch of := Normalise(n.Of).(type) {
		case Not:
			return of.Of
		case And:
			if len(of) == 0 {
				return Or{}
			}
			return Not{of}
		case Or:
			if len(of) == 0 {
				return And{}
			}
			return Not{of}
		default:
			return Not{of}
		}
	case Equal:
		n.Text = n.Value == "" || n.Text && n.Field.Kind == Data && ambiguous(n.Value)
		return n
	default:
		return n
	}
}

// flatten normalises parts and takes apart those of the same kind. constant: one of them decides alone.
func flatten(parts []Node, same func(Node) ([]Node, bool), decides func(Node) bool) (out []Node, constant bool) {
	out = make([]Node, 0, len(parts))
	for _, p := range parts {
		p = Normalise(p)
		if decides(p) {
			return nil, true
		}
		if inner, ok := same(p); ok {
			out = append(out, inner...)
		} else {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, compare)
	return slices.CompactFunc(out, func(a, b Node) bool { return compare(a, b) == 0 }), false
}

// ambiguous says whether a value of the data can be written without quotes and be more than text.
func ambiguous(value string) bool {
	return value == "true" || value == "false" || lexicon.IsNumber(value)
}

// compare orders conditions: by what they are about, then by what they say; a condition stands before its
// negation, and both before conjunctions and alternatives.
func compare(a, b Node) int {
	x, negatedX := unwrapped(a)
	y, negatedY := unwrapped(b)
	switch {
	case x.composite != y.composite:
		return cmp.Compare(x.composite, y.composite)
	case x.composite > 0:
		for i := range min(len(x.parts), len(y.parts)) {
			if c := compare(x.parts[i], y.parts[i]); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(len(x.parts), len(y.parts)), cmp.Compare(negatedX, negatedY))
	}
	return cmp.Or(x.field.compare(y.field), cmp.Compare(x.what, y.what), strings.Compare(x.value, y.value),
		cmp.Compare(x.variant, y.variant), cmp.Compare(negatedX, negatedY))
}

// sortKey is a condition without its negations.
type sortKey struct {
	composite int // 0 a leaf, 1 And, 2 Or
	parts     []Node
	field     Field
	what      int
	value     string
	variant   int
}

func unwrapped(n Node) (k sortKey, negations int) {
	for {
		not, ok := n.(Not)
		if !ok {
			break
		}
		n = not.Of
		negations++
	}
	switch n := n.(type) {
	case And:
		k = sortKey{composite: 1, parts: n}
	case Or:
		k = sortKey{composite: 2, parts: n}
	case Word:
		k = sortKey{what: 0, value: n.Text}
	case Equal:
		k = sortKey{field: n.Field, what: 1, value: n.Value}
		if n.Text {
			k.variant = 1
		}
	case Prefix:
		k = sortKey{field: n.Field, what: 2, value: n.Text}
	case Contains:
		k = sortKey{field: n.Field, what: 3, value: n.Text}
	case Compare:
		k = sortKey{field: n.Field, what: 4, value: n.Value, variant: int(n.Op)}
	case Null:
		k = sortKey{field: n.Field, what: 5}
	case Exists:
		k = sortKey{field: n.Field, what: 6}
	}
	return k, negations
}
